// Leases: possession of one or more keys for a limited time.
#ifndef ROWLOCK_LEASE_HPP
#define ROWLOCK_LEASE_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock {

struct release_request;

namespace detail {
class lease_keeper;
struct async_access;
struct lease_state;
struct work_result;
class risk;
}  // namespace detail

enum class note_result {
  written,
  busy,  ///< Another transaction has the row: try again.
  lost,  ///< The lease is over, so nothing was written.
};

enum class extend_result {
  extended,
  busy,  ///< Another transaction has the row: try again. The deadline is where it was.
  lost,  ///< The lease is over.
};

enum class release_result {
  released,   ///< The row is unset.
  lost,       ///< Nothing was left to release: it ran out, was taken away, or was released before.
  deferred,   ///< Not confirmed yet. It is retried in the background until the lease runs out.
  passed_on,  ///< The lease was passed on, and is another's to release.
};

/// For people: `written`, `extended`, `released`.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, note_result shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, extend_result shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, release_result shown);

class lease;

namespace detail {
/// Whether the key was this holder's until the work had ended.
constexpr bool was_kept(release_result ended) noexcept {
  return ended == release_result::released || ended == release_result::passed_on;
}

/// For the stores: a transaction will unset, has unset, or may have unset the row of a lease.
struct ROWLOCK_EXPORT transactional_release {
  /// Throws `error` (misuse) in a child of fork().
  static void require_home(const lease& held);
  static release_request to_release(const lease& held);
  /// `unset_as` is the version that the transaction gave the row.
  static void begin(const lease& held, version unset_as) noexcept;
  static void commit(const lease& held) noexcept;
  static void doubt(const lease& held) noexcept;
  /// Reads the rows, and marks leases lost whose rows show it. Best effort.
  static void read_for_losses(
      std::span<const std::reference_wrapper<const lease>> doubted) noexcept;
};
}  // namespace detail

/// Calls a callback while it exists: see `lease::watch_risk`. May outlive the lease and its
/// `lock_table`. Does nothing in a child of fork(). A moved-from one calls nothing.
///
/// Thread-safety: one thread at a time.
class ROWLOCK_EXPORT risk_watch {
 public:
  risk_watch(risk_watch&& other) noexcept;
  risk_watch& operator=(risk_watch&& other) noexcept;
  risk_watch(const risk_watch&) = delete;
  risk_watch& operator=(const risk_watch&) = delete;
  /// Waits for a call under way, unless that call destroys it.
  ~risk_watch();

 private:
  friend class lease;

  risk_watch(std::shared_ptr<detail::lease_keeper> keeper,
             std::shared_ptr<detail::lease_state> watched,
             std::shared_ptr<detail::risk> added) noexcept;
  void end() noexcept;

  std::shared_ptr<detail::lease_keeper> keeper_;
  std::shared_ptr<detail::lease_state> watched_;
  std::shared_ptr<detail::risk> added_;
};

/// Possession of one key, renewed in the background by its `lock_table`. A lease can be lost while
/// the work runs, and reports that; once lost it stays lost. Pass `const lease&` to functions that
/// need the lock: the parameter is the assertion.
///
/// A lease that outlives its `lock_table` is lost, not dangling. The copy in a child of fork() is
/// dead: it is not valid, has nothing to release, proves nothing to a fence, and never requests
/// `lost()`. Nothing that the child does affects the parent's lease. A moved-from lease may be
/// assigned to and destroyed. Of its members only `release()` may be called; it returns `lost` and
/// sends nothing.
///
/// Thread-safety: const members may be called from any thread; release, move and destruction belong
/// to one thread at a time. Cost: of the const members only `write_note` and `extend` make round
/// trips.
class ROWLOCK_EXPORT lease {
 public:
  lease(lease&& other) noexcept;
  lease& operator=(lease&& other) noexcept;
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  /// Releases the lease unless it was released before. Never throws.
  ~lease();

  [[nodiscard]] const lock_key& key() const noexcept;

  /// The version of this grant, greater than that of every earlier grant of the key. Pass it to
  /// systems outside the database; they store the greatest that they have seen and refuse smaller
  /// ones (Kleppmann, "How to do distributed locking", 2016).
  [[nodiscard]] version token() const noexcept;

  /// Requested when the lease is lost: at `valid_until()` at the latest, even if the database never
  /// answers. Callbacks on it run in a thread of the `lock_table`. A slow callback delays other
  /// callbacks, but no `is_valid()`.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// The holder's own deadline: the time just before the last successful request was sent, plus
  /// ttl, minus margin.
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept;

  /// True while not lost, not released and before `valid_until()`, in the process that acquired it.
  /// After `release_with` and its commit it stays true until the next renewal finds the release.
  [[nodiscard]] bool is_valid() const noexcept;

  /// The time until `valid_until()`; zero if not valid.
  [[nodiscard]] boot_clock::duration remaining() const noexcept;

  /// Replaces the row's note, at most 1,024 bytes of UTF-8: what the holder does, or how far it is.
  /// Any role that can read the table can read it. It stays after the release. One round trip, or
  /// more for about 100 ms if another transaction has the row; none if the lease is not valid.
  /// Throws `error`.
  [[nodiscard]] note_result write_note(const std::string& note) const;

  /// The work gets on: see `lock_options::progress_within`. No effect without that option, or once
  /// the lease is over.
  void progress() const noexcept;

  /// Renews the lease now, with `ttl` from now on if that is above its present one: for a phase in
  /// which the database may be away, or where the `lock_table` does not renew. After it
  /// `remaining()` is at least `ttl` minus the margin. Waits for a renewal under way. One round
  /// trip, or more for about 100 ms if another transaction has the row. Counts as progress. Throws
  /// `error`: misuse for a ttl that is not above the margin, or above 24 hours; a fault leaves the
  /// deadline where it was.
  [[nodiscard]] extend_result extend(std::chrono::milliseconds ttl) const;

  /// Calls `callback(true)` when less than `before` is left until `valid_until()`, so that the work
  /// can stop in time, and `callback(false)` when a renewal has succeeded after all. Before any
  /// loss at the deadline there is a call; a loss that is found earlier (`loss_reason::taken_away`)
  /// has none. At once if the deadline is so near already; never if the lease is over. Calls run in
  /// the thread of `lost()`, one at a time, and must not throw. Above zero, at most 24 hours,
  /// otherwise misuse; more than the ttl minus the margin warns all the time. No round trip.
  [[nodiscard]] risk_watch watch_risk(std::chrono::milliseconds before,
                                      std::function<void(bool at_risk)> callback) const;

  /// Requested when the holder is asked to yield the key: by `lock_table::ask`,
  /// `acquire_options::ask` or `rowlock release --ask`. Nothing is taken away: the holder decides
  /// when it releases. A request is seen at once where the store announces it (PostgreSQL through
  /// libpqxx), and otherwise with the next renewal. The first call of a lease makes its renewals
  /// one read of the row longer, until the holder is asked, and begins with such a read in the
  /// background. Callbacks on it run in the thread of `lost()`. No round trip.
  [[nodiscard]] std::stop_token wanted() const;

  /// The request that `wanted()` reports; none before.
  [[nodiscard]] std::optional<ask_mark> asked() const;

  /// Ends possession without a release, and returns a text with which another process takes the
  /// lease over: see `lock_table::take_over`. If none does, the lease runs out; `extend` before
  /// this call gives it a whole ttl. The text is a secret until then: any process that has it and
  /// the database can take the lease. It has at most 1,200 bytes of `A-Z a-z 0-9 - _ . %`.
  /// Afterwards this lease is not valid, its fences are refused, and `release()` returns
  /// `passed_on`. What `acquire_options::hold_at_least` asked for is over. No round trip. Throws
  /// `lease_lost` if the lease is over or was passed on before, and `error` (misuse) after
  /// `release_with`.
  [[nodiscard]] std::string pass_on() const;

  /// Unsets the row. One round trip, or more for about 100 ms if another transaction has the row. A
  /// lost lease sends nothing. Never throws.
  ///
  /// After `release_with` this call checks whether that transaction has committed, which costs two
  /// more round trips if it has, and unsets the row if it has not. Then `released` means that the
  /// row is as that transaction left it, or remembers the work as done. Once another holder has had
  /// the key, the outcome can no longer be read, and the result is `lost`. After `run_fenced` the
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
  [[nodiscard]] bool is_released_by_transaction() const noexcept;
  /// Returns the worst of the results.
  static release_result release_all(std::span<lease> ended,
                                    const detail::work_result& how) noexcept;

  std::shared_ptr<detail::lease_keeper> keeper_;
  std::shared_ptr<detail::lease_state> kept_;
};

/// The key of a lease that was passed on. Throws `error` (misuse) for a text that is not whole.
[[nodiscard]] ROWLOCK_EXPORT lock_key key_of_passed(std::string_view passed_on);

/// Several leases that are renewed, fenced and released together, with one statement each time. A
/// parameter of type `fenced_leases` takes it. An empty set is valid, has nothing to release, and
/// proves nothing to a fence. Thread-safety: as a lease.
class ROWLOCK_EXPORT lease_set {
 public:
  lease_set(lease_set&& other) noexcept;
  lease_set& operator=(lease_set&& other) noexcept;
  lease_set(const lease_set&) = delete;
  lease_set& operator=(const lease_set&) = delete;
  /// Releases the leases that were not released before. Never throws.
  ~lease_set();

  /// In key order. Each has its own `token()`, and is released only through the set.
  [[nodiscard]] std::span<const lease> leases() const noexcept { return leases_; }
  [[nodiscard]] std::size_t size() const noexcept { return leases_.size(); }
  [[nodiscard]] bool empty() const noexcept { return leases_.empty(); }
  /// Null if the key is not in the set.
  [[nodiscard]] const lease* find(const lock_key& key) const;

  /// Requested when the first lease is lost.
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  /// The earliest deadline; the end of time for an empty set.
  [[nodiscard]] boot_clock::time_point valid_until() const noexcept;
  [[nodiscard]] bool is_valid() const noexcept;
  [[nodiscard]] boot_clock::duration remaining() const noexcept;

  /// Unsets the rows with one statement, repeated for about 100 ms while another transaction has
  /// one of them. Returns the worst result; `released` for an empty set. Never throws.
  release_result release() noexcept;
  /// Releases one key and removes its lease from the set; `lost` if it is not in the set.
  release_result release(const lock_key& key) noexcept;

 private:
  friend class lock_table;
  friend class read_write_lock;

  lease_set(std::stop_source lost, std::vector<lease> leases) noexcept;

  /// Adds the leases of another set, which must have been acquired with the same `lost()`.
  void take(lease_set other);
  release_result release(const detail::work_result& how) noexcept;
  release_result release_after_failure() noexcept;

  std::stop_source lost_;
  std::vector<lease> leases_;
};

}  // namespace rowlock

#endif
