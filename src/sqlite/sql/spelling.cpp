// The rendering of SQL texts for a lock table in a SQLite file.
#include "sqlite/sql/spelling.hpp"

#include "base/never_destroyed.hpp"
#include "sqlite/sql/history.hpp"
#include "sqlite/sql/leases.hpp"
#include "store/history_pages.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::sqlite::sql {

namespace {

std::string listed_by(std::string_view order) {
  return detail::with_words(list_in_order, {{"order", std::string{order}}});
}

detail::sql_words make_words() {
  detail::sql_words words{{"columns", std::string{columns}},
                          {"is_idle", std::string{is_idle}},
                          {"listed", std::string{listed}},
                          {"listed_by_age", listed_by(by_age)},
                          {"listed_by_remaining", listed_by(by_remaining)},
                          {"next_version", std::string{next_version}},
                          {"now", std::string{now_as_text}},
                          {"now_us", std::string{now_us}}};
  detail::add_history(words, {.others = other_events,
                              .grants = grant_events,
                              .of_one = {of_one_key, newest_grants_of_one},
                              .of_any = {of_any_key, newest_grants_of_any},
                              .words = {{"granted_then", std::string{granted_then}}}});
  return words;
}

}  // namespace

std::string rendered(const table_name& table, std::string_view text) {
  static const auto& words = detail::never_destroyed<const detail::sql_words>(make_words());
  return table.in(detail::with_words(text, words));
}

}  // namespace rowlock::sqlite::sql
