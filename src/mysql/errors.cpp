// The mapping of MariaDB and MySQL error numbers to errors.
#include "mysql/errors.hpp"

#include <algorithm>
#include <initializer_list>
#include <new>

#include "rowlock/error.hpp"
#include "store/schema_check.hpp"

namespace rowlock::mysql {

namespace {

bool is_one_of(unsigned number, std::initializer_list<unsigned> numbers) noexcept {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

bool is_conflict(unsigned number) noexcept { return is_one_of(number, {1213, 1020, 3101}); }

/// Of a group of MySQL: "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT".
bool is_lost_certification(unsigned number, std::string_view said) noexcept {
  return number == 1180 && said.find(" 149 ") != std::string_view::npos;
}

/// Errors about a value: null, too long, out of range, wrong, broken CHECK, duplicate.
bool is_about_a_value(unsigned number) noexcept {
  return is_one_of(number, {1048, 1062, 1264, 1265, 1292, 1300, 1366, 1406, 1586, 3819, 4025});
}

/// Errors that the client library itself reports.
bool is_of_the_client_library(unsigned number) noexcept {
  return (number >= 2000 && number < 3000) || (number >= 5000 && number < 6000);
}

/// Resources, locks, connections and the server's internal errors: the same statement may work
/// later. A proxy uses 1105 for errors that have no number.
bool may_pass(unsigned number) noexcept {
  return number == 0 || is_conflict(number) || is_of_the_client_library(number) ||
         is_one_of(number,
                   {1015, 1021, 1026, 1030, 1037, 1038, 1040, 1041, 1047, 1105, 1114, 1135, 1180,
                    1181, 1203, 1205, 1206, 1207, 1223, 1226, 1290, 1297, 1317, 1412, 1613, 1614,
                    1615, 1637, 1689, 1792, 1836, 1969, 3024, 3032, 3100, 3168, 3572});
}

struct meaning {
  errc code;
  std::string message;
};

constexpr const char* read_it =
    ": look the number up in its manual, and at the table, its triggers and the privileges of this "
    "user";

constexpr const char* make_triggers_anew =
    ": if it is one of the history, migrate with --without history and then --with history, as an "
    "account that stays; make any other anew";

std::string shown(unsigned number) { return " (error " + std::to_string(number) + ")"; }

meaning rejected_meaning(unsigned number, const table_name* lock_table) {
  const auto says = [](const std::string& message) { return meaning{errc::rejected, message}; };
  if (lock_table == nullptr) {
    return says("the server refuses the table, its columns or our access to it" + shown(number) +
                read_it);
  }
  const auto& table = *lock_table;
  if (is_missing_privilege(number)) {
    const auto& name = table.text();
    return says(
        "no privilege on table " + name + ", or on one that belongs to it: run `GRANT SELECT ON " +
        name + " TO ...; GRANT SELECT ON " + name +
        "_schema TO ...` for the user of this connection; if it does more than read, also "
        "`GRANT SELECT, INSERT, UPDATE ON " +
        name + " TO ...`; if it purges, `GRANT DELETE ON " + name +
        " TO ...`; and if it reads the history, `GRANT SELECT ON " + name + "_event TO ...`");
  }
  switch (number) {
    case 1046:
      return says(
          "the connection has no database: name one in the connection string, or in the "
          "name of the table");
    case 1449:
      return says("the account that made a trigger of table " + table.text() + " is gone" +
                  make_triggers_anew);
    case 1665:
      return says(
          "the server logs statements, which it cannot at READ COMMITTED (error 1665): set "
          "binlog_format to ROW or MIXED");
    case 1054:
    case 1146:
      return says("table " + table.text() + " or a part of it is missing: " +
                  detail::how_to_migrate(detail::some_url, table) +
                  "; if only its table of events is missing, with --with history, or with "
                  "--without history to do without it");
    default:
      return says("the server refuses what it is asked of table " + table.text() + shown(number) +
                  read_it);
  }
}

meaning meaning_for_another(const table_name& table) {
  return {errc::rejected,
          "the account that made a trigger of table " + table.text() +
              " lacks a privilege, not the user of this connection: the server's message names it; "
              "GRANT it to that account" +
              make_triggers_anew};
}

meaning unavailable_meaning(unsigned number, std::string_view said) {
  const auto says = [](const std::string& message) { return meaning{errc::unavailable, message}; };
  if (number == 1047) {
    return says("the node is not in the primary component of its cluster: connect to another node");
  }
  if (number == 1792) {
    return says(
        "the transaction is read-only (START TRANSACTION READ ONLY, transaction_read_only): begin "
        "one that may write");
  }
  if (is_one_of(number, {1290, 1836})) {
    return says("the server is read-only, a replica perhaps: connect to the primary");
  }
  if (is_interruption(number)) {
    return says("the server ended the statement: it took too long, or was killed");
  }
  if (number == 1205) {
    return says(
        "a lock could not be had in time: another session has the row, or locks the whole table "
        "(ALTER TABLE, LOCK TABLES, a backup; SHOW PROCESSLIST shows which): try again after it");
  }
  if (is_conflict(number)) return says("a concurrent transaction was in the way: try again");
  if (auto limit = reached_limit(number, said); !limit.empty()) return says(limit);
  if (is_one_of(number, {1021, 1114})) {
    return says("the server has no room for what is written" + shown(number) +
                ": make room on its disk, or in the tablespace");
  }
  if (number == 0) return says("the driver failed: try again, and see the nested exception");
  return says("the server or its client library failed" + shown(number) +
              ": try again, and look at the server's log");
}

meaning meaning_of(unsigned number, std::string_view said, const table_name* table) {
  if (is_about_a_value(number)) {
    return {errc::misuse, "the server does not take a value" + shown(number)};
  }
  if (is_lost_connection(number)) {
    return {errc::unavailable, "the connection to the server was lost" + shown(number)};
  }
  return may_pass(number) ? unavailable_meaning(number, said) : rejected_meaning(number, table);
}

}  // namespace

std::string reached_limit(unsigned number, std::string_view said) {
  constexpr const char* what_to_do =
      ": end sessions that are not needed, lower pool_size of the stores, or raise ";
  if (number == 1040) {
    return std::string{"the server takes no more connections (max_connections)"} + what_to_do +
           "it";
  }
  if (number == 1129) {
    return "it blocks this host after too many connections that failed (max_connect_errors): find "
           "what made them, then FLUSH HOSTS (MySQL: TRUNCATE performance_schema.host_cache), or "
           "raise max_connect_errors";
  }
  if (number != 1203 && number != 1226) return {};
  const auto begin = said.find("max_");
  const auto end = said.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin);
  std::string limit{begin == std::string_view::npos ? "max_user_connections"
                                                    : said.substr(begin, end - begin)};
  // MySQL's messages do not have the words of ALTER USER.
  if (limit == "max_questions") limit = "max_queries_per_hour";
  if (limit == "max_updates") limit = "max_updates_per_hour";
  const std::string text = "the user of this connection has reached its limit " + limit;
  return limit.ends_with("_per_hour")
             ? text + ": wait, or raise it (ALTER USER ... WITH " + limit + " 0 for none)"
             : text + what_to_do + "it (ALTER USER ... WITH " + limit + "; SET GLOBAL)";
}

std::string shown_text(unsigned number, std::string_view said) {
  // The text of any other error may hold a value of a statement, and a value may be an owner.
  const bool holds_names_only =
      is_one_of(number, {1020, 1040, 1044, 1045, 1046, 1047, 1049, 1053, 1054, 1142, 1143, 1146,
                         1180, 1205, 1213, 1226, 1227, 1290, 1665, 1698, 1792, 1820, 1836});
  return is_of_the_client_library(number) || holds_names_only ? std::string{said}
                                                              : "error " + std::to_string(number);
}

void throw_driver_error(unsigned number, std::string_view said, const char* user) {
  const auto text = shown_text(number, said);
  // The text names the account as 'name'@'host'; one of any name has none.
  const auto is_of = [&](const std::string& name) {
    return said.find('\'' + name + "'@") != std::string_view::npos;
  };
  if (is_missing_privilege(number) && user != nullptr && !is_of(user) && !is_of("")) {
    throw denied_to_another{text, static_cast<int>(number)};
  }
  throw ::soci::mysql_soci_error{text, static_cast<int>(number)};
}

unsigned error_number_of(const std::exception& thrown) noexcept {
  const auto* failed = dynamic_cast<const ::soci::mysql_soci_error*>(&thrown);
  return failed == nullptr ? 0 : failed->err_num_;
}

bool is_missing_privilege(unsigned number) noexcept {
  return is_one_of(number, {1044, 1142, 1143, 1227});
}

bool ends_the_transaction(unsigned number, std::string_view said) noexcept {
  return is_conflict(number) || is_lost_certification(number, said) || is_lost_connection(number);
}

bool is_lost_connection(unsigned number) noexcept {
  return is_one_of(number, {1053, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2002,
                            2003, 2005, 2006, 2012, 2013, 2020, 2026, 2027, 2055, 4031});
}

bool needs_new_connection(unsigned number) noexcept {
  return is_lost_connection(number) || is_one_of(number, {1047, 1290, 1792, 1836, 2014});
}

bool is_conflict(const std::exception& thrown) noexcept {
  const auto number = error_number_of(thrown);
  return is_conflict(number) || is_lost_certification(number, thrown.what());
}

bool is_deadlock(const std::exception& thrown) noexcept { return error_number_of(thrown) == 1213; }

bool is_contention(const std::exception& thrown, std::string_view statement) noexcept {
  const auto number = error_number_of(thrown);
  return is_conflict(thrown) || is_one_of(number, {1205, 3572}) ||
         (number == 1062 && statement.find("INSERT ") != std::string_view::npos);
}

bool is_refusal(unsigned number) {
  return meaning_of(number, {}, nullptr).code != errc::unavailable && !is_missing_privilege(number);
}

bool is_interruption(unsigned number) noexcept { return is_one_of(number, {1317, 1969, 3024}); }

bool is_kept_by_another(unsigned number) noexcept { return is_one_of(number, {1217, 1451, 1644}); }

bool is_overflow(unsigned number) noexcept { return number == 1690; }

void throw_as_error(effects had, const table_name* lock_table) {
  try {
    throw;
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    const auto number = error_number_of(thrown);
    const bool is_of_another = dynamic_cast<const denied_to_another*>(&thrown) != nullptr;
    auto found = is_of_another && lock_table != nullptr
                     ? meaning_for_another(*lock_table)
                     : meaning_of(number, thrown.what(), lock_table);
    if (had == effects::made && found.code == errc::unavailable) {
      found = {errc::outcome_unknown, "a part of the call may be done, then: " + found.message};
    } else if (had != effects::none && number == 1180 && !is_conflict(thrown)) {
      found = {errc::outcome_unknown, "the commit failed" + shown(number) + ": ask again"};
    } else if (had == effects::possible && is_lost_connection(number)) {
      found = {errc::outcome_unknown,
               "the connection to the server was lost before the answer came: ask again"};
    }
    std::throw_with_nested(error{found.code, found.message});
  }
}

void throw_failed_commit() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    const auto number = error_number_of(thrown);
    if (is_conflict(thrown)) throw;
    if (is_lost_connection(number) || number == 1180) {
      std::throw_with_nested(error{errc::outcome_unknown,
                                   "the answer to the commit got lost" + shown(number) +
                                       ": look whether the work is there before doing it again"});
    }
    throw_as_error(effects::none, nullptr);
  }
}

}  // namespace rowlock::mysql
