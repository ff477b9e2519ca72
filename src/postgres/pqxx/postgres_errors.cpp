// What an exception of libpqxx means.
#include "postgres/pqxx/postgres_errors.hpp"

#include <pqxx/pqxx>
#include <string>

namespace rowlock::postgres {

namespace {

template <class Exception>
bool is(const std::exception& thrown) {
  return dynamic_cast<const Exception*>(&thrown) != nullptr;
}

std::string sqlstate_of(const std::exception& thrown) {
  // libpqxx 6 drops the SQLSTATE of some, and libpqxx 7 that of insufficient_privilege.
  if (is<pqxx::too_many_connections>(thrown)) return "53300";
  if (is<pqxx::insufficient_privilege>(thrown)) return "42501";
  if (is<pqxx::serialization_failure>(thrown)) return "40001";
  if (is<pqxx::deadlock_detected>(thrown)) return "40P01";
  if (is<pqxx::statement_completion_unknown>(thrown)) return "40003";
  const auto* failed = dynamic_cast<const pqxx::sql_error*>(&thrown);
  return failed == nullptr ? std::string{} : failed->sqlstate();
}

}  // namespace

fault fault_in(const std::exception& thrown) {
  return {.sqlstate = sqlstate_of(thrown),
          .is_line_dead = is<pqxx::broken_connection>(thrown) || is<pqxx::in_doubt_error>(thrown),
          .is_misuse = is<pqxx::usage_error>(thrown)};
}

void throw_as_error(effects had, const table_name* lock_table) {
  try {
    throw;
  } catch (const std::exception& thrown) {
    throw_as_error(fault_in(thrown), had, lock_table);
  }
}

}  // namespace rowlock::postgres
