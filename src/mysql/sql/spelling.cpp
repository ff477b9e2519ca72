// The rendering of SQL texts for MariaDB or MySQL.
#include "mysql/sql/spelling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "mysql/sql/history.hpp"
#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/transactions.hpp"
#include "store/history_pages.hpp"
#include "store/names.hpp"

namespace rowlock::mysql::sql {

namespace {

struct list_column {
  std::string_view name;
  std::string_view type;
};

/// Texts are in hexadecimal, so they are twice as long as in the table.
constexpr std::array list_columns{
    list_column{"lock_type", "varchar(134) CHARACTER SET ascii"},
    list_column{"source_id", "varchar(510) CHARACTER SET ascii"},
    list_column{"version", "bigint"},
    list_column{"owner", "varchar(64) CHARACTER SET ascii"},
    list_column{"holder", "varchar(256) CHARACTER SET ascii"},
    list_column{"ttl", "bigint"},
    list_column{"correlation_id", "varchar(256) CHARACTER SET ascii"},
    list_column{"is_mine", "int"},
    list_column{"failed", "int"},
    list_column{"closed", "bigint"},
    list_column{"done", "bigint"},
    list_column{"note", "varchar(2048) CHARACTER SET ascii"},
    list_column{"reason", "varchar(2048) CHARACTER SET ascii"},
};

/// `names` are separated by a comma and a blank.
std::string json_list(std::string_view names) {
  std::string columns;
  std::size_t place = 0;
  const auto add = [&](std::string_view name) {
    if (name == "place") {
      columns.insert(0, "place FOR ORDINALITY,\n         ");
      return;
    }
    if (!columns.empty()) columns += ",\n         ";
    const auto* const known = std::ranges::find(list_columns, name, &list_column::name);
    columns.append(name).append(" ").append(known->type);
    columns += " PATH '$[" + std::to_string(place++) + "]'";
  };
  add("lock_type");
  add("source_id");
  while (!names.empty()) {
    const auto end = names.find(", ");
    add(names.substr(0, end));
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 2);
  }
  return "json_table($1, '$[*]' COLUMNS (\n         " + columns + ")) AS w";
}

constexpr std::string_view joined_rows = R"sql(
  STRAIGHT_JOIN shared_lock AS l FORCE INDEX (PRIMARY)
    ON l.lock_type = w.lock_type AND l.source_id = unhex(w.source_id))sql";

/// Replaces {list: ...} and {rows: ...}.
std::string with_lists(std::string text) {
  for (const auto& [word, joined] : {std::pair{std::string_view{"{list"}, std::string_view{}},
                                     std::pair{std::string_view{"{rows"}, joined_rows}}) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
      const auto end = text.find('}', at);
      const auto names = std::string_view{text}.substr(at + word.size(), end - at - word.size());
      auto list = json_list(names.substr(std::min<std::size_t>(names.size(), 2)));
      text.replace(at, end + 1 - at, list.append(joined));
    }
  }
  return text;
}

detail::sql_words placeholders_for(flavour server) {
  const bool is_mariadb = server == flavour::mariadb;
  detail::sql_words words{
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
      {"listed", std::string{listed}},
      {"next_version", "greatest(version + 1, {now_us})"},
      {"next_version_of_l", "greatest(l.version + 1, {now_us})"},
      {"now_us", "timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6))"},
      {"read", std::string{read}},
      {"insert_unowned", std::string{insert_unowned}},
      {"acquire", std::string{acquire}},
      {"prepare_many", std::string{prepare_many}},
  };
  detail::add_history(words, {.others = other_events,
                              .grants = grant_events,
                              .last_of_others = last_of_others,
                              .last_of_grants = last_of_grants,
                              .of_one = {of_one_key, newest_grants_of_one},
                              .of_any = {of_any_key, newest_grants_of_any},
                              .words = {{"others_then", std::string{others_then}},
                                        {"granted_then", std::string{granted_then}}}});
  return words;
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
  auto spelled = with_lists(detail::with_words(text, placeholders_for(server)));
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
