// The check whether a PostgreSQL table is as its migrations make it.
#include "postgres/table_check.hpp"

#include <string_view>
#include <utility>

#include "postgres/sql/session.hpp"

namespace rowlock::postgres {

namespace {

using detail::unfitness;

std::string kind_of(std::string_view letter) {
  if (letter == "p") return "partitioned";
  if (letter == "v" || letter == "m") return "a view";
  if (letter == "f") return "a foreign table";
  return "of another kind";
}

/// What is wrong with an existing table; only the first finding.
std::optional<unfitness> unfitness_in(const result_set::row& found, const table_name& table) {
  if (found.text("kind") != "r") {
    return unfitness{"is " + kind_of(found.text("kind")) +
                         ", not an ordinary table, so that a key may have two rows",
                     detail::drop_and_make_anew(table)};
  }
  if (found.text("persistence") == "t") {
    return unfitness{"is a temporary one, which other sessions do not see",
                     "drop it, or name rowlock's table with its schema"};
  }
  if (found.text("persistence") == "u") {
    return unfitness{
        "is unlogged: a crash of the server empties it, and then a key has two holders until the "
        "first one's next renewal",
        table.in("run `ALTER TABLE shared_lock SET LOGGED`")};
  }
  if (found.flag("has_heirs")) {
    return unfitness{"has tables that inherit from it, so that a key may have two rows",
                     table.in("run `ALTER TABLE ... NO INHERIT shared_lock` for each of them")};
  }
  if (!found.flag("has_key")) {
    return unfitness{
        "lacks the primary key (lock_type, source_id), so a key may have two rows",
        table.in("of each key that has several, leave the row with the greatest version; then "
                 "run `ALTER TABLE shared_lock ADD PRIMARY KEY (lock_type, source_id)`")};
  }
  if (found.flag("has_rewrites")) {
    return unfitness{"has rules (CREATE RULE), which change what statements do",
                     "drop them: DROP RULE"};
  }
  if (!found.is_null("unlike_columns")) {
    return unfitness{
        "has other columns than its migrations make (type, collation, NOT NULL, rule of "
        "the domain): " +
        found.text("unlike_columns")};
  }
  return std::nullopt;
}

}  // namespace

found_table find_table(connection& used, detail::rendered_sql& texts, const table_name& table) {
  const auto result = used.execute(texts(sql::found_table));
  const auto found = result.front();
  const bool has_record = found.flag("is_there");
  const bool has_table = found.flag("has_table");
  if (!has_record && !has_table) return {};
  if (!found.is_null("missing_policies")) {
    detail::throw_unfit(
        table,
        {"has row-level security, and no policy lets the role of this connection do what it "
         "has the privilege for: " +
             found.text("missing_policies"),
         "as the owner, CREATE POLICY for each of these commands, TO the role, USING (true), "
         "for INSERT and UPDATE also WITH CHECK (true); or ALTER TABLE ... DISABLE ROW LEVEL "
         "SECURITY; or let the role have BYPASSRLS"});
  }
  std::optional<int> number;
  if (has_record) {
    const auto recorded = used.execute(texts(sql::schema_version));
    if (const auto row = recorded.front(); !row.is_null("number")) {
      number = static_cast<int>(row.number("number"));
    }
  }
  if (!has_table) detail::throw_without_table(table, texts(sql::drop_companions));
  auto wrong = unfitness_in(found, table);
  // A table that differs from the migrations may belong to another program.
  if (!number && wrong) detail::throw_unknown(table, *wrong);
  return {number, std::move(wrong), !number};
}

void require_fit(const found_table& found, const table_name& table) {
  if (found.unfit) detail::throw_unfit(table, *found.unfit);
}

void check_table(connection& used, detail::rendered_sql& texts, const table_name& table) {
  const auto read = [&] {
    auto found = find_table(used, texts, table);
    if (found.has_lost_its_record) detail::throw_without_record(table);
    detail::check_schema(found.number, postgres_migrations(table), table, detail::some_url);
    return found;
  };
  auto found = read();
  // A table that is altered or dropped meanwhile may be seen in parts, so the second read counts.
  if (found.unfit) found = read();
  require_fit(found, table);
}

}  // namespace rowlock::postgres
