// The application's transaction, as far as we use it.
#include "postgres/caller_transaction.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::postgres {

std::optional<answer> caller_transaction::execute(const std::string& sql,
                                                  const bound_values& values,
                                                  const table_name* lock_table,
                                                  std::string_view other_table) {
  try {
    return execute_or_conflict(sql, values, lock_table, other_table);
  } catch (const std::exception& thrown) {
    if (line_.fault_in(thrown).is_conflict()) return std::nullopt;
    throw;
  }
}

answer caller_transaction::execute_or_conflict(const std::string& sql, const bound_values& values,
                                               const table_name* lock_table,
                                               std::string_view other_table) {
  try {
    return line_.execute(sql, values);
  } catch (const std::exception& thrown) {
    const auto found = line_.fault_in(thrown);
    if (found.is_conflict()) throw;
    throw_as_error(found, effects::none, lock_table, other_table);
  }
}

void require_same_keys(const transaction_line& used, const key_list& keys) {
  // A type is ASCII always.
  const bool are_ascii = std::all_of(keys.begin(), keys.end(), [](const lock_key* key) {
    return std::all_of(key->source_id.begin(), key->source_id.end(),
                       [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  });
  if (are_ascii) return;
  const auto encoding = used.encoding();
  if (encoding == "UTF8") return;
  throw error{
      errc::misuse,
      "a key that is not ASCII would be another one to the server, because the connection's "
      "client_encoding is " +
          encoding + ": SET client_encoding TO 'UTF8', or connect with client_encoding=UTF8"};
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
