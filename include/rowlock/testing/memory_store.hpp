// A lock table in memory: the reference implementation, and a store for tests of applications.
#ifndef ROWLOCK_TESTING_MEMORY_STORE_HPP
#define ROWLOCK_TESTING_MEMORY_STORE_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

class memory_transaction;

namespace detail {
class release_hints;
}

/// Follows every rule of `store` within one process. With a `manual_time` as its clock, a test
/// makes leases run out without waiting.
///
/// Thread-safety: all members may be called from any thread. It must outlive its transactions.
class memory_store final : public store {
 public:
  explicit memory_store(std::shared_ptr<time_source> time = system_time());
  ~memory_store() override;

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override;
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override;
  std::vector<change_answer> do_release(std::span<const release_request> requests) override;
  handoff_answer do_handoff(const handoff_request& request) override;
  change_answer do_write_note(const note_request& request) override;
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override;
  std::unique_ptr<subscription> do_listen(release_listener& listener) override;
  std::vector<row_state> do_list() override;
  force_answer do_force_release(const force_request& request) override;
  purge_answer do_purge(const purge_request& request) override;

 private:
  friend class memory_transaction;
  friend struct row_transaction<memory_transaction>;

  struct row {
    rowlock::version version;
    std::optional<owner_id> owner;
    std::string holder;
    std::string acquired_at;
    boot_clock::time_point expires_at;
    std::int64_t failure_count = 0;
    std::int64_t expiry_count = 0;
    std::string note;
    rowlock::version done_by;
    std::string done_at;
    boot_clock::time_point done_until;
    std::string force_reason;
    /// False: a transaction that is still open has created the row.
    bool is_committed = true;
    const memory_transaction* locked_by = nullptr;
  };

  /// Throws `error` (misuse) in a child of fork().
  [[nodiscard]] std::unique_lock<std::mutex> enter();

  std::vector<change_answer> release_each(std::span<const release_request> requests,
                                          std::vector<lock_key>& released);
  void create_rows(const lock_keys& keys);
  void count_failures(const lock_keys& keys);

  // All of these are called with the mutex held.
  std::vector<acquire_answer> acquire_each(std::span<const acquire_request> requests);
  std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests);
  std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                          std::size_t at_most);
  acquire_answer try_to_grant(const acquire_request& request);
  /// Why the request would be refused; `granted` if it would not be.
  [[nodiscard]] acquire_answer answer_to(const acquire_request& request) const;
  [[nodiscard]] bool is_mine(const acquire_request& request) const;
  void release_row(row& held, const release_request& request) const;
  /// The row, if it still has the grant of `owner` at version `seen`; else null.
  row* granted_row(const lock_key& key, const owner_id& owner, version seen);
  [[nodiscard]] std::chrono::microseconds left_of(const row& found) const;
  [[nodiscard]] bool is_live(const row& found) const;
  [[nodiscard]] bool is_done(const row& found) const;
  [[nodiscard]] bool is_idle(const row& found, std::chrono::microseconds older_than) const;
  /// Whether `key` holds the number of rows of which some are left.
  [[nodiscard]] bool is_needed(const lock_key& key) const;
  [[nodiscard]] std::int64_t now_us() const;
  void move_version(row& moved) const;
  void unset(row& ended) const;
  void make_ready(std::span<const lock_key> keys);
  [[nodiscard]] row_state state_of(const lock_key& key, const row& found) const;

  std::shared_ptr<time_source> time_;
  std::unique_ptr<detail::release_hints> hints_;
  std::mutex mutex_;
  std::map<lock_key, row> rows_;  // guarded by mutex_
};

/// The counterpart of a database transaction for the rows of a memory_store. It can lock rows and
/// move their versions; the changes count from its commit on.
///
/// Thread-safety: one thread at a time.
class memory_transaction {
 public:
  explicit memory_transaction(memory_store& store) : store_{store} {}
  memory_transaction(const memory_transaction&) = delete;
  memory_transaction& operator=(const memory_transaction&) = delete;
  /// Rolls back what was not committed.
  ~memory_transaction();

  /// Commits and ends it. Every call on a transaction that has ended, by a commit or by a fence,
  /// throws `error` (misuse). So does a commit in a callback of `with_row_lock`, which commits
  /// itself.
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
  /// Also releases the rows as the requests say, if there are any.
  void prove(const fenced_leases& leases, const std::vector<release_request>& releases = {});
  [[nodiscard]] detail::fence_try try_to_fence(const fenced_leases& leases,
                                               const std::vector<release_request>& releases);
  /// Why this transaction cannot lock the row now; none if it can.
  [[nodiscard]] std::optional<refusal> obstacle(const lock_key& key) const;
  /// This transaction's own copy of a row that it may lock, created if missing.
  memory_store::row& lock(const lock_key& key);
  [[nodiscard]] bool is_free_of_others(const memory_store::row& found) const;
  void forget_locks();

  memory_store& store_;
  std::map<lock_key, memory_store::row> changed_;
  bool is_ended_ = false;
  bool is_lent_ = false;
  bool is_aborted_ = false;
};

/// As for the transactions of a database: see postgres.hpp.
outcome<row_lock> lock_rows(memory_transaction& transaction, const lock_keys& keys,
                            const wait_policy& wait);
outcome<version> read_version(memory_transaction& transaction, const lock_key& key);
commit_result try_commit(memory_transaction& transaction, const lock_key& key, version seen);

void fence(memory_transaction& transaction, const fenced_leases& leases);
void release_with(memory_transaction& transaction, const fenced_leases& leases,
                  const release_options& options = {});

template <>
struct row_transaction<memory_transaction> {
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
