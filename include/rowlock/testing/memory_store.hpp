// A lock table in memory: the reference implementation, and a store for tests of applications.
#ifndef ROWLOCK_TESTING_MEMORY_STORE_HPP
#define ROWLOCK_TESTING_MEMORY_STORE_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/passing_store.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

class memory_transaction;

namespace detail {
class memory_rows;
struct memory_row;
}  // namespace detail

/// Follows every rule of `store` within one process. With a `manual_time` as its clock, a test
/// makes leases run out without waiting. It must outlive its transactions. Thread-safe.
class ROWLOCK_EXPORT memory_store final : public passing_store {
 public:
  explicit memory_store(std::shared_ptr<time_source> time = system_time());
  ~memory_store() override;

 private:
  friend class memory_transaction;
  friend struct row_transaction<memory_transaction>;

  class impl;
  explicit memory_store(detail::owned_at_home<impl> made);
  [[nodiscard]] detail::memory_rows& rows() const noexcept;

  detail::owned_at_home<impl> impl_;
};

/// The counterpart of a database transaction for the rows of a memory_store. It can lock rows and
/// move their versions; the changes count from its commit on. Thread-safety: one thread at a time.
class ROWLOCK_EXPORT memory_transaction {
 public:
  explicit memory_transaction(memory_store& store);
  memory_transaction(const memory_transaction&) = delete;
  memory_transaction& operator=(const memory_transaction&) = delete;
  /// Rolls back unless committed.
  ~memory_transaction();

  /// Every call on a transaction that has ended, by a commit or by a fence, throws `error`
  /// (misuse). So does a commit in a callback of `with_row_lock`, which commits itself.
  void commit();
  /// Rolls back, if the transaction has not ended.
  void abort();

 private:
  friend void fence(memory_transaction& transaction, const fenced_leases& leases);
  friend void release_with(memory_transaction& transaction, const fenced_leases& leases,
                           const release_options& options);
  friend outcome<row_lock> lock_rows(memory_transaction& transaction, const lock_keys& keys,
                                     const wait_policy& wait);
  friend outcome<version> read_version(memory_transaction& transaction, const lock_key& key);
  friend commit_result try_commit(memory_transaction& transaction, const lock_key& key,
                                  version seen);
  friend struct row_transaction<memory_transaction>;

  void require_open() const;
  std::optional<refusal> lock_all(const lock_keys& keys);
  outcome<version> read(const lock_key& key);
  commit_result try_commit(const lock_key& key, version seen);
  /// Also releases the rows as `releases` says.
  void prove(const fenced_leases& leases, const std::vector<release_request>& releases = {});
  [[nodiscard]] detail::fence_try try_to_fence(const fenced_leases& leases,
                                               const std::vector<release_request>& releases);
  /// Why this transaction cannot lock the row now; none if it can.
  [[nodiscard]] std::optional<refusal> obstacle(const lock_key& key) const;
  /// The transaction's own copy of a row that it may lock, created if missing.
  detail::memory_row& lock(const lock_key& key);
  [[nodiscard]] bool is_free_of_others(const detail::memory_row& found) const;
  void forget_locks();

  memory_store& store_;
  detail::memory_rows& rows_;
  /// The transaction's own copies of the rows that it has locked.
  struct changes;
  std::unique_ptr<changes> changed_;
  bool is_ended_ = false;
  bool is_lent_ = false;
  bool is_aborted_ = false;
};

/// As in postgres.hpp.
ROWLOCK_EXPORT outcome<row_lock> lock_rows(memory_transaction& transaction, const lock_keys& keys,
                                           const wait_policy& wait);
ROWLOCK_EXPORT outcome<version> read_version(memory_transaction& transaction, const lock_key& key);
ROWLOCK_EXPORT commit_result try_commit(memory_transaction& transaction, const lock_key& key,
                                        version seen);

ROWLOCK_EXPORT void fence(memory_transaction& transaction, const fenced_leases& leases);
ROWLOCK_EXPORT void release_with(memory_transaction& transaction, const fenced_leases& leases,
                                 const release_options& options = {});

template <>
struct ROWLOCK_EXPORT row_transaction<memory_transaction> {
  /// A memory_store is one table.
  struct table_type {};

  static std::optional<refusal> begin(std::optional<memory_transaction>& transaction,
                                      memory_store& store, std::chrono::milliseconds slice);
  static std::optional<refusal> begin_locked(std::optional<memory_transaction>& transaction,
                                             memory_store& store, const lock_keys& keys,
                                             std::chrono::milliseconds slice,
                                             const table_type& table);
  static outcome<version> read(memory_transaction& transaction, const lock_key& key,
                               const table_type& table);
  static commit_result try_commit(memory_transaction& transaction, const lock_key& key,
                                  version seen, const table_type& table);
  static void fence(memory_transaction& transaction, const fenced_leases& leases,
                    const fence_options& options, const table_type& table);
  static void release_with(memory_transaction& transaction, const fenced_leases& leases,
                           const release_options& options, const table_type& table);
  static void commit(memory_transaction& transaction) { transaction.commit(); }
  static void lend(memory_transaction& transaction) noexcept { transaction.is_lent_ = true; }
  static bool take_back(memory_transaction& transaction) noexcept {
    transaction.is_lent_ = false;
    return !transaction.is_aborted_;
  }
  static void count_failure(memory_store& store, const lock_keys& keys,
                            const table_type& table) noexcept;
};

}  // namespace rowlock

#endif
