// The application's transaction, as far as we use it.
#include "dialects/postgres/caller_transaction.hpp"

#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace rowlock::postgres {

std::optional<answer> caller_transaction::execute(const std::string& sql,
                                                  const bound_values& values,
                                                  const table_name* lock_table) {
  try {
    return execute_or_conflict(sql, values, lock_table);
  } catch (const std::exception& thrown) {
    if (line_.fault_in(thrown).is_conflict()) return std::nullopt;
    throw;
  }
}

answer caller_transaction::execute_or_conflict(const std::string& sql, const bound_values& values,
                                               const table_name* lock_table) {
  try {
    return line_.execute(sql, values);
  } catch (const std::exception& thrown) {
    const auto found = line_.fault_in(thrown);
    if (found.is_conflict()) throw;
    throw_as_error(found, effects::none, lock_table);
  }
}

const sql::postgres_statements& statements_for(const postgres_table& table,
                                               bool asynchronous_release) {
  using named = std::tuple<std::string, std::chrono::milliseconds, bool>;
  static std::mutex mutex;
  static std::map<named, sql::postgres_statements> rendered;  // guarded by mutex
  const std::scoped_lock lock{mutex};
  const named name{table.table.text(), table.clock_skew, asynchronous_release};
  const auto found = rendered.find(name);
  if (found != rendered.end()) return found->second;
  return rendered
      .emplace(std::piecewise_construct, std::forward_as_tuple(name),
               std::forward_as_tuple(table, asynchronous_release))
      .first->second;
}

}  // namespace rowlock::postgres
