// Leases: possession of one key or several, for a limited time.
#ifndef ROWLOCK_LEASE_HPP
#define ROWLOCK_LEASE_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock {

struct release_request;

namespace detail {
class lease_keeper;
struct async_access;
struct lease_state;
struct work_result;
}  // namespace detail

enum class note_result {
  written,
  busy,  ///< Another transaction has the row: try again.
  lost,  ///< The lease is over, so nothing was written.
};

enum class release_result {
  released,  ///< The row is unset.
  lost,      ///< Nothing was left to release: the lease ran out, was taken away, or was released
             ///< before.
  deferred,  ///< Not confirmed yet. It is retried in the background; at the latest the lease runs
             ///< out by itself.
};

/// For people: `written`, `released`.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, note_result shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, release_result shown);

class lease;

namespace detail {
/// For the stores: a transaction is to unset the row of a lease, has done so, or may have done so.
struct ROWLOCK_EXPORT transactional_release {
  /// Throws `error` (misuse) in a child of fork().
  static void require_home(const lease& held);
  static release_request to_release(const lease& held);
  /// `unset_as` is the version that the transaction gave the row.
  static void begin(const lease& held, version unset_as) noexcept;
  static void commit(const lease& held) noexcept;
  static void doubt(const lease& held) noexcept;
  /// Reads the rows, and marks the leases lost whose rows show it. Best effort.
  static void read_for_losses(
      std::span<const std::reference_wrapper<const lease>> doubted) noexcept;
};
}  // namespace detail

/// Possession of one key. Its `lock_table` renews it in the background. It can be lost while the
/// work runs, and reports that; once lost it stays lost. Hand `const lease&` to functions that need
/// the lock: the parameter is the assertion.
///
/// A lease that outlives its `lock_table` is lost, not dangling. The copy of a lease that fork()
/// makes in the child is dead: not valid, nothing to release, no proof for a fence, and `lost()` is
/// not requested there. Nothing that the child does affects the lease of the parent.
///
/// A moved-from lease may be assigned to and destroyed. Of its members only `release()` may be
/// called; it returns `lost` and sends nothing.
///
/// Thread-safety: const members may be called from any thread; release, move and destruction belong
/// to one thread at a time. Cost: no const member makes a round trip, except `write_note`.
class ROWLOCK_EXPORT lease {
 public:
  lease(lease&& other) noexcept;
  lease& operator=(lease&& other) noexcept;
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  /// Releases quietly, unless the lease was released before. Never throws.
  ~lease();

  [[nodiscard]] const lock_key& key() const noexcept;

  /// The version of this grant: greater than that of every grant of the key before it. Hand it to
  /// systems outside the database; they store the greatest that they have seen and refuse smaller
  /// ones (Kleppmann, "How to do distributed locking", 2016).
  [[nodiscard]] version token() const noexcept;

  /// Requested when the lease is lost: at the latest when `valid_until()` has come, even if the
  /// database never answers. Callbacks on it run in a thread of the `lock_table`. A callback that
  /// takes long delays other callbacks, but no `is_valid()`.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// The holder's own deadline: the time just before the last successful request was sent, plus
  /// ttl, minus margin.
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept;

  /// True while not lost, not released and before `valid_until()`, in the process that acquired it.
  /// After `release_with` and its commit it stays true until the next renewal finds that.
  [[nodiscard]] bool is_valid() const noexcept;

  /// The time until `valid_until()`; zero when not valid.
  [[nodiscard]] boot_clock::duration remaining() const noexcept;

  /// Writes a note into the row, at most 1,024 bytes of UTF-8, in place of the last one: what the
  /// holder does, or how far it is. A role that can read the table can read it, without holding
  /// the key. It stays after the release.
  ///
  /// One round trip, or more for about 100 ms if another transaction has the row; none for a lease
  /// that is not valid. Throws `error`.
  [[nodiscard]] note_result write_note(const std::string& note) const;

  /// Unsets the row. One round trip, or more for about 100 ms if another transaction has the row. A
  /// lost lease sends nothing. Never throws: the result reports the outcome.
  ///
  /// After `release_with` this call checks whether that transaction has committed, which costs two
  /// more round trips if it has, and unsets the row if not. Then `released` means that the row is
  /// as that transaction left it, or remembers the work as done. Once another holder has had the
  /// key the outcome cannot be read any more, and the result is `lost`. After `run_fenced` the
  /// outcome is known, and nothing is sent.
  release_result release() noexcept;

 private:
  friend class lock_table;
  friend class lease_set;
  friend struct detail::async_access;
  friend struct detail::transactional_release;

  lease(std::shared_ptr<detail::lease_keeper> keeper,
        std::shared_ptr<detail::lease_state> kept) noexcept;

  release_result release_after_failure() noexcept;
  release_result release_as_done(std::chrono::milliseconds keep_for) noexcept;
  void end_quietly() noexcept;
  /// Whether a transaction may have unset the row.
  [[nodiscard]] bool is_released_by_transaction() const noexcept;
  /// Returns the worst of the results.
  static release_result release_all(std::span<lease> ended,
                                    const detail::work_result& how) noexcept;

  std::shared_ptr<detail::lease_keeper> keeper_;
  std::shared_ptr<detail::lease_state> kept_;
};

/// Several leases that are renewed, fenced and released together, with one statement each time. A
/// parameter of type `fenced_leases` takes it. An empty set has no key: it is valid, has nothing to
/// release, and proves nothing to a fence.
///
/// Thread-safety: as of a lease.
class ROWLOCK_EXPORT lease_set {
 public:
  lease_set(lease_set&& other) noexcept;
  lease_set& operator=(lease_set&& other) noexcept;
  lease_set(const lease_set&) = delete;
  lease_set& operator=(const lease_set&) = delete;
  /// Releases quietly the leases that were not released before. Never throws.
  ~lease_set();

  /// In the order of their keys. Each has its own `token()`, and is released only through the set.
  [[nodiscard]] std::span<const lease> leases() const noexcept { return leases_; }
  [[nodiscard]] std::size_t size() const noexcept { return leases_.size(); }
  [[nodiscard]] bool empty() const noexcept { return leases_.empty(); }
  /// Null: the key is not in the set.
  [[nodiscard]] const lease* find(const lock_key& key) const;

  /// Requested when the first of the leases is lost.
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  /// The earliest deadline; the end of time for an empty set.
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept;
  /// Whether all of them are valid.
  [[nodiscard]] bool is_valid() const noexcept;
  /// The time until `valid_until()`; zero when not valid.
  [[nodiscard]] boot_clock::duration remaining() const noexcept;

  /// Unsets the rows: one statement, repeated for about 100 ms while another transaction has one of
  /// them. Returns the worst of the results; `released` for an empty set. Never throws.
  release_result release() noexcept;
  /// Releases one key, whose lease leaves the set; `lost` if it is not in the set.
  release_result release(const lock_key& key) noexcept;

 private:
  friend class lock_table;
  friend class read_write_lock;

  lease_set(std::stop_source lost, std::vector<lease> leases) noexcept;

  /// Adds the leases of the other set, which must have been acquired with the same `lost()`.
  void take(lease_set other);
  release_result release(const detail::work_result& how) noexcept;
  release_result release_after_failure() noexcept;

  std::stop_source lost_;
  std::vector<lease> leases_;
};

}  // namespace rowlock

#endif
