// The main interface: acquires leases from a store, and renews and releases them.
#ifndef ROWLOCK_LOCK_TABLE_HPP
#define ROWLOCK_LOCK_TABLE_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/batching_store.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/watch.hpp"

namespace rowlock {

namespace detail {
class numbered_rows;
class campaign;
class set_attempt;
struct obstacle;
struct attempt_end;
struct lease_request;
}  // namespace detail

/// Options for all leases of a lock_table.
struct lock_options {
  /// How long a lease lasts without renewal, and so the longest that a key stays taken after its
  /// holder died. Above the margin, at most 24 hours.
  std::chrono::milliseconds ttl{30'000};
  /// How much earlier the lease ends for the holder than for the database. It must cover the drift
  /// of two clocks during one ttl, and the time that the work takes to stop.
  std::chrono::milliseconds margin{200};
  /// Renew in the background. Each lease is renewed when a third of its ttl is over, or up to 3/5
  /// of that time sooner together with others. The interval is fixed. A ttl below 30 ms is misuse
  /// then.
  bool renew = true;
  /// End renewal this long after the grant. Then the lease runs out at its deadline and is lost, so
  /// a hanging callback cannot keep its key for ever. The key is taken for at most this time and
  /// one ttl. None: no end. At least the ttl, at most 365 days. No effect without renewal.
  std::optional<std::chrono::milliseconds> renew_for = std::nullopt;
  /// End renewal while `lease::progress` has not been called for this long: work that hangs loses
  /// its key at most one ttl later, although its process lives. None: renewal needs no progress.
  /// Above zero, at most 365 days. No effect without renewal.
  std::optional<std::chrono::milliseconds> progress_within = std::nullopt;
  /// For work with effects outside the database. After a lease ran out, because its holder died or
  /// was cut off, the key stays closed for this long. (Burrows, "The Chubby lock service", 2006,
  /// calls it lock-delay.) A release opens it at once. At most 24 hours together with the ttl.
  std::chrono::milliseconds lock_delay{0};
  /// A release waits for the disk, and for a synchronous standby. Otherwise a crash or a failover
  /// may undo the last releases. Such a key is free when its lease has run out and `lock_delay` is
  /// over, as after a release that failed. Each later acknowledged grant or commit keeps every
  /// release before it. These always wait: releases of rows that stay closed or are remembered as
  /// done, handoffs, releases by force, and all releases on MariaDB and MySQL and in a SQLite file
  /// that is not in WAL mode.
  bool durable_release = false;
  /// This holder's label, for people; at most 128 bytes of UTF-8. Empty: `host:pid`.
  std::string holder = {};
  /// Append `:` and the name of the thread that makes the attempt to that label. The name has at
  /// most 15 bytes, as `pthread_setname_np` sets it. A name that is empty, not UTF-8, or has
  /// control characters is replaced by the thread's number.
  bool thread_in_holder = false;
  /// The most threads for calls that do not block (asio.hpp), started on demand. 1 to 1,024.
  unsigned blocking_threads = 4;
  /// How concurrent acquisitions and releases of different threads share statements.
  batching_options batching = {};
  /// The holder's clock.
  std::shared_ptr<time_source> time = system_time();
  /// Notified of events, if set.
  std::shared_ptr<rowlock::observer> observer = nullptr;
};

/// Options of one attempt.
// A string is optional here: within a co_await, GCC 12 moves a default argument by copying its
// bytes, which breaks an empty string.
struct acquire_options {
  /// How long to wait for a held key or an unavailable database: `2s`, or a policy.
  wait_policy wait = no_wait();
  /// Overrides `lock_options::ttl`.
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;
  /// Overrides `lock_options::renew_for`.
  std::optional<std::chrono::milliseconds> renew_for = std::nullopt;
  /// Overrides `lock_options::progress_within`.
  std::optional<std::chrono::milliseconds> progress_within = std::nullopt;
  /// Compare-and-set: acquire only if the row still has this version, as `read` returned it.
  /// Otherwise refused (`stale`) without a wait.
  std::optional<version> expected = std::nullopt;
  /// Overrides `lock_options::lock_delay`.
  std::optional<std::chrono::milliseconds> lock_delay = std::nullopt;
  /// The key stays taken for this long after the grant, even if it is released sooner. So a short
  /// job that two clocks or schedules start a moment apart runs once. At most 24 hours. After its
  /// holder died, the key is taken for the ttl only.
  std::chrono::milliseconds hold_at_least{0};
  /// Written into the row after the grant, as by `lease::write_note`: one more round trip. It is
  /// omitted if another transaction has the row at that moment. A fault releases the key.
  std::optional<std::string> note = std::nullopt;
  /// Overrides `lock_options::holder` and its thread; at most 128 bytes of UTF-8, not empty.
  std::optional<std::string> holder = std::nullopt;
  /// Shown by the row, and copied into the events of this attempt and its lease, except faults of a
  /// statement on several leases. At most 128 bytes of UTF-8.
  std::optional<std::string> correlation_id = std::nullopt;
  /// Asks each holder that the wait meets to yield (`lease::wanted`). No effect without a wait. One
  /// more round trip for each holder.
  bool ask = false;
};

struct once_options {
  /// How long the row remembers the work as done; at most ten years.
  std::chrono::milliseconds keep_for = std::chrono::hours{24};
  acquire_options acquire = {};
};

/// Leases on the rows of one store, which must outlive the lock_table.
///
/// The destructor stops all waits, marks all leases lost and unsets their rows, within two seconds
/// and the time of a statement under way. So a hanging store delays it by the time of one call,
/// however many are under way.
///
/// In a child of fork() only the destructor may be called, and it does nothing; every other call is
/// `misuse`. The child makes its own store and lock_table.
///
/// Thread-safe. It runs three threads of its own from the first lease on, and one more from the
/// first wait on. An observer has one thread, and calls that do not block have a few.
///
/// Fairness: waiters of one lock_table get a key in the order in which they came; a caller that
/// does not wait may overtake them. Between processes no order is promised, nor for a set of keys,
/// which others may hold in turn.
class ROWLOCK_EXPORT lock_table {
 public:
  /// Throws `error`: misuse for options out of range; unavailable if the system cannot start the
  /// observer's thread. No round trip.
  explicit lock_table(store& rows, lock_options options = {});
  lock_table(const lock_table&) = delete;
  lock_table& operator=(const lock_table&) = delete;
  ~lock_table();

  /// The same leases, threads and options, for the keys within one scope: each key is `scoped`.
  /// Lock what all scopes share through this table itself, which must outlive the returned one.
  /// Throws `error` (misuse) for an invalid scope; scopes do not nest.
  [[nodiscard]] lock_table within(std::string_view scope) const;

  /// A lease on `key`, or a refusal. One round trip if the row exists and is free (on PostgreSQL
  /// also if it is held). One more to read its holder; two more if the row is missing. On
  /// PostgreSQL at most two more in any case: see `store::acquire`. All waiters share their
  /// statements: for all keys that are waited for about one read a second, or, while a hold is
  /// young whose release is not announced, at most twenty statements.
  ///
  /// The calling thread makes the first try. It takes as long as the store lets a call take (see
  /// `answer_timeout`), whatever `wait` says. After a lost answer the same attempt is sent once
  /// more, unless the time of `wait` is over. Throws `error`; `unavailable` and `outcome_unknown`
  /// only when the wait is over (`retry_policy::through_outages`). After `outcome_unknown` a grant
  /// may exist. It runs out by itself, or is released if a late answer reports it.
  outcome<lease> try_acquire(const lock_key& key, const acquire_options& options = {});

  /// Leases on all the keys, or on none; a refusal names a key that could not be had. Duplicates
  /// count once. An empty list is acquired at once, without a statement. Misuse: over 1,000 keys,
  /// `expected`, `note`. One round trip if all rows exist and are free; one more to read the holder
  /// of one, three more for missing rows. Waiters for the same set queue for it; the first tries in
  /// its calling thread, when the key that refused it is released and after the pauses of `wait`.
  /// Waiters for overlapping sets cannot deadlock. Throws `error`.
  outcome<lease_set> try_acquire_all(const std::vector<lock_key>& keys,
                                     const acquire_options& options = {});

  /// Leases on those of the keys that are free, at most `limit`, in the order given: a work
  /// queue. Refused if none is free. One round trip if enough rows exist and are free, else two.
  /// Otherwise as `try_acquire_all`; an `limit` of zero is misuse.
  outcome<lease_set> try_acquire_any(const std::vector<lock_key>& keys, std::size_t limit,
                                     const acquire_options& options = {});

  /// The lease that another process has passed on (`lease::pass_on`), with a new token; or a
  /// refusal: `stale` or `held` if it ran out, was taken over or taken away; `busy` if a
  /// transaction has had the row for about 100 ms. Of a text, one call gets the lease. Its former
  /// holder cannot renew, release or fence any more. `options` as for `try_acquire`, without
  /// `expected` and a `wait`. Two round trips; two more after a lost answer. Throws `error`: misuse
  /// for a text that is not whole, or of a key outside this table's scope; else as `try_acquire`.
  outcome<lease> take_over(std::string_view passed_on, const acquire_options& options = {});

  /// Asks the holder of `key` to yield it: see `lease::wanted`. Otherwise as `rowlock::ask`.
  ask_result ask(const lock_key& key, const std::string& reason);

  /// Runs `callback` only if it could acquire `key`, and unsets the row after the callback returned
  /// or threw. The callback takes `const lease&` or nothing; the outcome contains its result. An
  /// exception of the callback raises the row's `failure_count` and passes through unchanged.
  /// Throws `error` as `try_acquire` does, and never after the callback has run.
  template <class Callback>
  auto with_lock(const lock_key& key, Callback&& callback, const acquire_options& options = {});

  /// The same under the lease that `take_over` returns.
  template <class Callback>
  auto with_lock_taken_over(std::string_view passed_on, Callback&& callback,
                            const acquire_options& options = {});

  /// Runs `callback` as `with_lock` does, but only once. When it has returned, the row remembers
  /// the work as done for `keep_for`, and later callers are refused (`already_done`). A caller
  /// during the work is refused (`held`), or waits and is refused then. If the callback throws or
  /// its process dies, nothing is remembered, and the next caller may try again. So the work is
  /// done at least once. It is done exactly once if it commits in the same transaction as the mark:
  /// `release_with(transaction, held, {.done_for = ...})`.
  ///
  /// Every transaction of the work must be over when the callback returns: the mark is made then,
  /// and stays even if one of them is rolled back later. A transaction that still has the row (a
  /// fence, `release_with`) delays the mark. It is retried in the background as long as the lease
  /// lasts, and the outcome is not `kept()`.
  template <class Callback>
  auto with_lock_once(const lock_key& key, Callback&& callback, const once_options& options = {});

  /// As `with_lock`, for all the keys. The callback takes `const lease_set&` or nothing.
  template <class Callback>
  auto with_lock_all(const std::vector<lock_key>& keys, Callback&& callback,
                     const acquire_options& options = {});

  /// Calls `callback` with the state of `key` soon, and then with each new one that it sees, the
  /// last one at any rate: a grant, a release, a lease that ran out, a note, a request to yield,
  /// and, with the reason, that the database could not be read; when it can be read again the
  /// present state follows. A renewal makes no new state. New states are seen within a second, and
  /// at once where the store announces releases; states that come while `callback` runs replace
  /// each other. Calls run in one thread for all watches of the table, one at a time, and must not
  /// throw. One round trip a second for all watched keys, at most twenty a second. It proves
  /// nothing: the state may be out of date. Throws `error`: misuse, unavailable if no thread can be
  /// started.
  [[nodiscard]] key_watch watch(const lock_key& key, watch_callback callback);

  /// The row's last committed state, or none if it is missing. One round trip. Throws `error`;
  /// unavailable while the lock_table is being destroyed.
  std::optional<row_state> look(const lock_key& key);

  /// The version of an unowned row, for a later compare-and-set; otherwise refused (held, busy, or
  /// stopped by the destructor). Creates a missing row, and unsets a lease that has run out. One
  /// round trip if there is nothing to do, else three. Throws `error`.
  outcome<version> read(const lock_key& key);

 private:
  friend class detail::numbered_rows;
  friend class read_write_lock;
  friend class semaphore;
  friend class detail::campaign;
  friend struct detail::async_access;

  lock_table(std::shared_ptr<detail::lease_keeper> keeper, std::string scope);

  static void check_once(const lock_key& key, std::chrono::milliseconds keep_for);
  outcome<lease> try_acquire(const lock_key& key, const acquire_options& options, bool unless_done);
  static void write_first_note(lease& granted, const std::optional<std::string>& note);
  /// Throws `error` (misuse).
  [[nodiscard]] detail::lease_request wanted(const lock_key& key, const acquire_options& options,
                                             bool unless_done) const;
  /// Converts the end of an attempt to the caller's result.
  static outcome<lease> conclude(const std::shared_ptr<detail::lease_keeper>& leases,
                                 detail::attempt_end end, const std::optional<std::string>& note);

  /// Calls `callback` under a lease, then ends the lease: by `finish` if the callback returned.
  template <class Possession, class Callback, class Finish>
  static auto run_under(outcome<Possession> acquired, Callback& callback, const Finish& finish);

  outcome<lease_set> try_acquire_set(const std::vector<lock_key>& keys,
                                     std::optional<std::size_t> limit,
                                     const acquire_options& options, std::stop_source lost);
  /// Throws `error` (misuse) for options that several keys cannot have.
  void check_for_several(const acquire_options& options) const;
  /// One try of `attempt` for keys of the table.
  outcome<lease_set> try_once(const std::vector<lock_key>& keys, std::optional<std::size_t> limit,
                              const acquire_options& options, std::stop_source lost,
                              detail::set_attempt& attempt);
  /// The same for the first of the keys that is free. The note is left to the caller.
  std::optional<detail::obstacle> try_one_of(const std::vector<lock_key>& keys,
                                             const acquire_options& options,
                                             detail::set_attempt& attempt,
                                             std::optional<lease>& held);

  std::vector<std::optional<row_state>> look_all(const std::vector<lock_key>& keys);
  /// As `look`; refused (stopped) while the lock_table is being destroyed.
  outcome<std::optional<row_state>> try_look(const lock_key& key);

  [[nodiscard]] lock_key in_scope(const lock_key& key) const;
  [[nodiscard]] std::vector<lock_key> in_scope(const std::vector<lock_key>& keys) const;

  std::shared_ptr<detail::lease_keeper> keeper_;
  const std::string scope_;     // empty: none
  const bool is_whole_ = true;  // False for a view on one scope of another table.
};

template <class Possession, class Callback, class Finish>
auto lock_table::run_under(outcome<Possession> acquired, Callback& callback, const Finish& finish) {
  const auto run = [&callback](const Possession& held) -> decltype(auto) {
    if constexpr (std::is_invocable_v<Callback&, const Possession&>) {
      return std::invoke(callback, held);
    } else {
      static_assert(std::is_invocable_v<Callback&>,
                    "the callback takes `const rowlock::lease&` (of several keys, "
                    "`const rowlock::lease_set&`) or nothing");
      return std::invoke(callback);
    }
  };
  using result = std::decay_t<decltype(run(std::declval<const Possession&>()))>;

  if (!acquired.acquired()) return outcome<result>{acquired.refusal()};
  Possession held = *std::move(acquired);
  try {
    if constexpr (std::is_void_v<result>) {
      run(std::as_const(held));
      return outcome<void>{detail::was_kept(finish(held))};
    } else {
      result value = run(std::as_const(held));
      const bool kept = detail::was_kept(finish(held));
      return outcome<result>{std::move(value), kept};
    }
  } catch (...) {
    held.release_after_failure();
    throw;
  }
}

template <class Callback>
auto lock_table::with_lock(const lock_key& key, Callback&& callback,
                           const acquire_options& options) {
  return run_under(try_acquire(key, options, false), callback,
                   [](lease& held) { return held.release(); });
}

template <class Callback>
auto lock_table::with_lock_taken_over(std::string_view passed_on, Callback&& callback,
                                      const acquire_options& options) {
  return run_under(take_over(passed_on, options), callback,
                   [](lease& held) { return held.release(); });
}

template <class Callback>
auto lock_table::with_lock_all(const std::vector<lock_key>& keys, Callback&& callback,
                               const acquire_options& options) {
  return run_under(try_acquire_all(keys, options), callback,
                   [](lease_set& held) { return held.release(); });
}

template <class Callback>
auto lock_table::with_lock_once(const lock_key& key, Callback&& callback,
                                const once_options& options) {
  check_once(key, options.keep_for);
  return run_under(try_acquire(key, options.acquire, true), callback,
                   [&](lease& held) { return held.release_as_done(options.keep_for); });
}

}  // namespace rowlock

#endif
