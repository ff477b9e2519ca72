// An application whose database is in memory: a memory_store, and notes that follow its
// transactions.
#ifndef ROWLOCK_TESTS_SUPPORT_MEMORY_APPLICATION_HPP
#define ROWLOCK_TESTS_SUPPORT_MEMORY_APPLICATION_HPP

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/testing/memory_store.hpp"
#include "support/application.hpp"

namespace rowlock::tests {

struct memory_database {
  explicit memory_database(std::shared_ptr<time_source> time) : rows{std::move(time)} {}

  memory_store rows;
  std::mutex mutex;
  std::vector<std::string> notes;  // guarded by mutex
};

/// A transaction on both: what it wrote is there before its rows are unlocked.
class memory_database_transaction {
 public:
  explicit memory_database_transaction(memory_database& database) : database_{database} {}

  void commit();
  void write_note(const std::string& text) { written_.push_back(text); }
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] std::optional<memory_transaction>& rows() noexcept { return rows_; }

 private:
  memory_database& database_;
  std::optional<memory_transaction> rows_;
  std::vector<std::string> written_;
};

std::unique_ptr<app_connection> connect_to_memory(std::shared_ptr<memory_database> database);

}  // namespace rowlock::tests

template <>
struct rowlock::row_transaction<rowlock::tests::memory_database_transaction> {
  using rows = row_transaction<memory_transaction>;
  using table_type = rows::table_type;
  using transaction = tests::memory_database_transaction;

  static std::optional<refusal> begin(std::optional<transaction>& begun,
                                      tests::memory_database& database,
                                      std::chrono::milliseconds slice) {
    begun.emplace(database);
    return rows::begin(begun->rows(), database.rows, slice);
  }
  static std::optional<refusal> begin_locked(std::optional<transaction>& begun,
                                             tests::memory_database& database,
                                             const lock_keys& keys, std::chrono::milliseconds slice,
                                             const table_type& table) {
    begun.emplace(database);
    auto refused = rows::begin_locked(begun->rows(), database.rows, keys, slice, table);
    if (refused) begun.reset();
    return refused;
  }
  static outcome<version> read(transaction& used, const lock_key& key, const table_type& table) {
    return rows::read(*used.rows(), key, table);
  }
  static commit_result try_commit(transaction& used, const lock_key& key, version seen,
                                  const table_type& table) {
    return rows::try_commit(*used.rows(), key, seen, table);
  }
  static void fence(transaction& used, const fenced_leases& leases, const fence_options& options,
                    const table_type& table) {
    rows::fence(*used.rows(), leases, options, table);
  }
  static void release_with(transaction& used, const fenced_leases& leases,
                           const release_options& options, const table_type& table) {
    rows::release_with(*used.rows(), leases, options, table);
  }
  static void commit(transaction& used) { used.commit(); }
  static void lend(transaction& used) noexcept { rows::lend(*used.rows()); }
  static bool take_back(transaction& used) noexcept { return rows::take_back(*used.rows()); }
  static void count_failure(tests::memory_database& database, const lock_keys& keys,
                            const table_type& table) noexcept {
    rows::count_failure(database.rows, keys, table);
  }
};

#endif
