// The check of a database's schema version.
#include "store/schema_check.hpp"

#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

void refuse_newer(int found, int last, const table_name& table) {
  if (found <= last) return;
  throw error{errc::rejected, "the schema of table " + table.text() + " is version " +
                                  std::to_string(found) + ", newer than version " +
                                  std::to_string(last) +
                                  " that this rowlock knows: deploy a newer rowlock"};
}

bool is_default(const table_name& table) { return table.text() == table_name{}.text(); }

/// The command line of `rowlock`, with the table's name if it is not the default.
std::string command_line(const std::string& command, const std::string& where,
                         const table_name& table) {
  return "`rowlock " + command + ' ' + where +
         (is_default(table) ? "" : " --table " + table.text()) + '`';
}

std::string make_anew(const table_name& table) {
  return "while no process uses it, execute what " +
         command_line("migrate --print --down", some_url, table) +
         " prints, which drops it with all its locks and its history, and migrate again";
}

/// Adds backticks, unless the text already has some: MariaDB quotes names with them.
std::string in_backticks(const std::string& sql) {
  return sql.find('`') == std::string::npos ? '`' + sql + '`' : sql;
}

}  // namespace

std::string how_to_migrate(const std::string& where, const table_name& table) {
  return "run " + command_line("migrate", where, table);
}

void check_schema(std::optional<int> found, std::span<const migration> known,
                  const table_name& table, const std::string& where) {
  const int last = known.back().number;
  const std::string remedy = ": " + how_to_migrate(where, table);
  if (!found) {
    // A mistyped name must not become a second table.
    const std::string warning =
        ", if that is its name: programs that use different tables do not exclude each other";
    throw error{errc::rejected,
                "there is no table " + table.text() + remedy + (is_default(table) ? "" : warning)};
  }
  refuse_newer(*found, last, table);
  if (*found < last) {
    throw error{errc::rejected, "the schema of table " + table.text() + " is version " +
                                    std::to_string(*found) + ", older than version " +
                                    std::to_string(last) + " that this rowlock needs" + remedy};
  }
}

void throw_without_table(const table_name& table, const std::string& remedy) {
  throw error{errc::rejected, "table " + table.text() +
                                  " is gone, dropped by hand perhaps, but what was made with it is "
                                  "still there: run " +
                                  in_backticks(remedy) + ", then " +
                                  how_to_migrate(some_url, table)};
}

void throw_without_record(const table_name& table) {
  throw error{errc::rejected, "table " + table.text() + " is there, but table " + table.text() +
                                  "_schema, which says that it was migrated, is gone or empty: " +
                                  how_to_migrate(some_url, table)};
}

void throw_other_event_table(const table_name& table) {
  std::throw_with_nested(
      error{errc::rejected, table.text() +
                                "_event does not take the events of a history: drop or rename what "
                                "has that name, and migrate --with history again"});
}

void throw_unfit(const table_name& table, const unfitness& found) {
  throw error{errc::rejected, "table " + table.text() + ' ' + found.what + ": " +
                                  (found.remedy.empty() ? make_anew(table) : found.remedy)};
}

void throw_unknown(const table_name& table, const unfitness& found) {
  throw error{errc::rejected, "table " + table.text() +
                                  " has no record of rowlock's migrations, and " + found.what +
                                  ". If it is another program's, rename it or give rowlock's table "
                                  "another name; if it is rowlock's, " +
                                  (found.remedy.empty() ? make_anew(table) : found.remedy)};
}

std::string drop_and_make_anew(const table_name& table) {
  return "drop or rename it, and " + make_anew(table);
}

std::vector<migration> missing_migrations(std::optional<int> found,
                                          std::span<const migration> known,
                                          const table_name& table) {
  refuse_newer(found.value_or(0), known.back().number, table);
  std::vector<migration> missing;
  for (const auto& each : known) {
    if (each.number > found.value_or(0)) missing.push_back(each);
  }
  return missing;
}

}  // namespace rowlock::detail
