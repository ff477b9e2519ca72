// What users talk to: acquires leases from a store and keeps them.
#ifndef ROWLOCK_LOCK_TABLE_HPP
#define ROWLOCK_LOCK_TABLE_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/store.hpp"
#include "rowlock/time_source.hpp"

namespace rowlock {

/// What holds for all leases of a lock_table.
struct lock_options {
  /// How long a lease lasts without renewal: the longest that a key stays taken after its holder
  /// died. Above the margin, at most 24 hours.
  std::chrono::milliseconds ttl{30'000};
  /// How much sooner the holder stops believing in its lease than the database does. It has to
  /// cover what two clocks drift apart during one ttl, and the time the work takes to stop.
  std::chrono::milliseconds margin{200};
  /// Renew in the background, each lease when a third of its ttl is over, or up to half of that
  /// time sooner together with others; there is no other interval to set. A ttl below 30 ms leaves
  /// no time for that and is misuse.
  bool renew = true;
  /// End renewal this long after the grant; then the lease runs out at its deadline and is lost, so
  /// that a callback that hangs cannot hold its key for ever. The key is taken for this time and
  /// one ttl at most. None: no end. Not below the ttl, which a grant lasts in any case; at most 365
  /// days. Changes nothing where leases are not renewed.
  std::optional<std::chrono::milliseconds> at_most = std::nullopt;
  /// Who we are, for people; at most 128 bytes of UTF-8. Empty: `host:pid`.
  std::string holder = {};
  /// The holder's clock.
  std::shared_ptr<time_source> time = system_time();
  /// Is told what happens. Null: nobody.
  std::shared_ptr<rowlock::observer> observer = nullptr;
};

/// What holds for one attempt.
struct acquire_options {
  /// How long to wait for a key that is held.
  retry_policy wait = no_wait();
  /// Instead of `lock_options::ttl`.
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;
  /// Instead of `lock_options::at_most`.
  std::optional<std::chrono::milliseconds> at_most = std::nullopt;
  /// Compare-and-set: acquire only if the row still has this version, as `read` gave it. Otherwise
  /// the refusal is `stale`, without a wait.
  std::optional<version> expected = std::nullopt;
};

/// Leases on the rows of one store.
///
/// Destroying it stops those who wait, marks all its leases lost and unsets their rows, as far as
/// two seconds (and a statement under way) allow. The store must outlive it.
///
/// In a child of fork() it can only be destroyed, which does nothing there; every other call is
/// `misuse`. The child makes a store and a lock_table of its own.
///
/// Thread-safety: all members may be called from any thread. It runs three threads of its own from
/// the first lease on, one more from the first wait on, and one for an observer. Fairness: those of
/// one lock_table who wait for a key are served in the order in which they came; one that does not
/// wait may overtake them. Between processes no order is promised.
class lock_table {
 public:
  /// Throws `error` (misuse) for options out of range. No round trip.
  explicit lock_table(store& rows, lock_options options = {});
  lock_table(const lock_table&) = delete;
  lock_table& operator=(const lock_table&) = delete;
  ~lock_table();

  /// A lease on `key`, or a refusal. One round trip if the row exists and is free; one more to say
  /// who holds it, two more if the row is missing. All who wait share their statements: one look a
  /// second or so at all keys waited for. When an answer gets lost it is asked for once
  /// more, as the same attempt. Throws `error`; after `outcome_unknown` a grant that was made after
  /// all runs out by itself.
  outcome<lease> try_acquire(const lock_key& key, const acquire_options& options = {});

  /// Runs `callback` only if `key` could be acquired, and unsets the row afterwards, whether it
  /// returned or threw. The callback takes `const lease&` or nothing; what it returns is handed
  /// back. An exception of the callback passes through unchanged, and the row's `failure_count`
  /// goes up. Throws `error` as `try_acquire` does, and never after the callback has run.
  template <class Callback>
  auto with_lock(const lock_key& key, Callback&& callback, const acquire_options& options = {});

  /// The version of a row nobody owns, for a later compare-and-set; refused (held, busy) otherwise.
  /// A missing row is created, and a lease that has run out is unset first. One round trip if there
  /// is nothing to do, else three. Throws `error`.
  outcome<version> read(const lock_key& key);

 private:
  /// Calls `work` under `held` and ends the lease in the way the work ended.
  template <class Result, class Work>
  static outcome<Result> run_under(lease held, Work&& work);

  std::shared_ptr<detail::keeper> keeper_;
};

template <class Result, class Work>
outcome<Result> lock_table::run_under(lease held, Work&& work) {
  const auto finish = [&held] { return held.release() == release_result::released; };
  try {
    if constexpr (std::is_void_v<Result>) {
      work(std::as_const(held));
      return outcome<void>{finish()};
    } else {
      Result result = work(std::as_const(held));
      const bool kept = finish();
      return outcome<Result>{std::move(result), kept};
    }
  } catch (...) {
    held.release_after_failure();
    throw;
  }
}

template <class Callback>
auto lock_table::with_lock(const lock_key& key, Callback&& callback,
                           const acquire_options& options) {
  const auto run = [&callback](const lease& held) -> decltype(auto) {
    if constexpr (std::is_invocable_v<Callback&, const lease&>) {
      return std::invoke(callback, held);
    } else {
      static_assert(std::is_invocable_v<Callback&>,
                    "the callback takes `const rowlock::lease&` or nothing");
      return std::invoke(callback);
    }
  };
  using result = std::decay_t<decltype(run(std::declval<const lease&>()))>;

  auto acquired = try_acquire(key, options);
  if (!acquired.acquired()) return outcome<result>{acquired.refusal()};
  return run_under<result>(*std::move(acquired), run);
}

}  // namespace rowlock

#endif
