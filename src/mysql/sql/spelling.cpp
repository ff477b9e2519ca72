// The rendering of SQL texts for MariaDB or MySQL.
#include "mysql/sql/spelling.hpp"

#include <utility>

#include "mysql/sql/history.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/transactions.hpp"
#include "store/names.hpp"

namespace rowlock::mysql::sql {

namespace {

std::string events_of(std::string_view events, std::string_view key) {
  const auto newest = key == of_one_key ? newest_grants_of_one : newest_grants_of_any;
  return detail::with_words(events, {{"of_key", std::string{key}},
                                     {"newest_grants", std::string{newest}},
                                     {"others_then", std::string{others_then}},
                                     {"granted_then", std::string{granted_then}}});
}

detail::sql_words placeholders_for(flavour server) {
  const bool is_mariadb = server == flavour::mariadb;
  return {
      // On MySQL `rendered` adds the settings, after the first word.
      {"no_wait", is_mariadb ? "SET STATEMENT innodb_lock_wait_timeout = 0, sql_safe_updates = 0, "
                               "sql_big_selects = 1, unique_checks = 1, default_regex_flags = '' "
                               "FOR "
                             : ""},
      // MariaDB 10.11 fails with error 1180 if SKIP LOCKED meets a row lock and the limit is 0.
      {"skip_locked",
       is_mariadb ? "SET STATEMENT innodb_lock_wait_timeout = 1, sql_big_selects = 1 FOR " : ""},
      // MySQL cannot lock rows of json_table, so the statement names the table to lock.
      {"for_update", is_mariadb ? "FOR UPDATE" : "FOR UPDATE OF l"},
      {"for_share", is_mariadb ? "LOCK IN SHARE MODE" : "FOR SHARE OF l"},
      {"lock_shown", is_mariadb ? "{for_update}" : "{for_share}"},
      {"isolation", is_mariadb ? "@@session.tx_isolation" : "@@session.transaction_isolation"},
      {"limit", is_mariadb ? "" : "/*+ SET_VAR(lock_wait_timeout = 1) */"},
      // MySQL has no expression for a setting that may be missing: `settings_of_clusters` is read.
      {"clustered", is_mariadb ? "@@session.wsrep_on" : "0"},
      {"columns", std::string{columns}},
      {"last_of_others_of_any", events_of(last_of_others, of_any_key)},
      {"last_of_others_of_one", events_of(last_of_others, of_one_key)},
      {"last_of_grants_of_any", events_of(last_of_grants, of_any_key)},
      {"last_of_grants_of_one", events_of(last_of_grants, of_one_key)},
      {"grants_of_any", events_of(grant_events, of_any_key)},
      {"grants_of_one", events_of(grant_events, of_one_key)},
      {"listed", std::string{listed}},
      {"other_events_of_any", events_of(other_events, of_any_key)},
      {"other_events_of_one", events_of(other_events, of_one_key)},
      {"read", std::string{read}},
      {"insert_unowned", std::string{insert_unowned}},
      {"acquire", std::string{acquire}},
      {"prepare_many", std::string{prepare_many}},
  };
}

/// In a transaction of the application its settings hold. These would stop a statement; and with
/// unique_checks off, MariaDB locks the whole table for the first row of an empty one.
constexpr std::string_view overruled_on_mysql =
    " /*+ SET_VAR(sql_safe_updates = 0) SET_VAR(sql_big_selects = 1) */";

std::string with_hint(std::string text) {
  const auto verb = text.find_first_not_of('\n');
  return text.insert(text.find_first_of(" \n", verb), overruled_on_mysql);
}

}  // namespace

std::string rendered(const table_name& table, flavour server, std::string_view text) {
  auto spelled = detail::with_words(text, placeholders_for(server));
  const bool is_of_the_application =
      text.starts_with("{no_wait}") || text.starts_with("{skip_locked}");
  if (server == flavour::mysql && is_of_the_application) spelled = with_hint(std::move(spelled));
  return detail::in_backticks(table, spelled);
}

detail::rendered_sql texts_of(const table_name& table, flavour server) {
  return detail::rendered_sql{
      [&table, server](std::string_view text) { return rendered(table, server, text); }};
}

detail::entity_spelling entity_spelling() {
  return {.same_text = same_text, .same_integer = same_integer};
}

std::string on_entity(std::string_view text, detail::sql_words words, flavour server) {
  words.merge(placeholders_for(server));
  return detail::with_backticks(detail::with_words(text, words));
}

}  // namespace rowlock::mysql::sql
