// A counting semaphore: at most a given number of holders of one name.
#ifndef ROWLOCK_SEMAPHORE_HPP
#define ROWLOCK_SEMAPHORE_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock {

namespace detail {
class numbered_rows;
}

/// A permit is a lease on one of the name's rows `type#1` to `type#N`. It is renewed, lost, fenced
/// and released as any lease, and two permits never share a row. The row `type#0` holds the number
/// of permits: that of its first user, with which all others must agree, until `set_permits` sets
/// another one for all of them. Thread-safe. Fairness: waiters of one
/// `lock_table` stand in line; among processes, none is promised.
class ROWLOCK_EXPORT semaphore {
 public:
  /// `locks` must outlive it. 1 to 1,000 permits. Throws `error` (misuse). No round trip.
  semaphore(lock_table& locks, lock_key name, std::size_t permits);
  ~semaphore();

  /// A permit, or a refusal with the semaphore's name because all are taken. Also refused while
  /// another process is about to write the number of permits, or died doing so and its lease still
  /// lasts: then the refusal's key is `type#0`. One round trip if a row is free, two if none is or
  /// rows are missing. Three more on first use and every ten minutes of use, and one every ten
  /// seconds, to agree on the number of permits. Throws `error`; misuse if the table has another
  /// number, and not by `set_permits`.
  outcome<lease> try_acquire(const acquire_options& options = {});

  /// Runs `callback` only if it could acquire a permit, as `lock_table::with_lock`.
  template <class Callback>
  auto with_permit(Callback&& callback, const acquire_options& options = {}) {
    return lock_table::run_under(try_acquire(options), callback,
                                 [](lease& held) { return held.release(); });
  }

  /// How many permits are free at this moment; no promise for the next one. Two round trips.
  /// Throws `error`.
  [[nodiscard]] std::size_t available();

  /// The held permits, also those beyond a number that was lowered: each row's holder, age, note
  /// and so on. The number of a permit ends its key's type. One round trip, which reads 1,000 keys.
  /// Throws `error`.
  [[nodiscard]] std::vector<row_state> held() const;

  /// Sets the number of permits for all semaphores of the name, whatever number they were made
  /// with. They go by it within ten seconds of use. Permits beyond it last until they are released.
  /// It is forgotten when the name's idle rows are purged. Refused, without effect, if the row with
  /// the number was taken all the time. Three round trips if the row exists. Throws `error`.
  [[nodiscard]] static outcome<void> set_permits(lock_table& locks, const lock_key& name,
                                                 std::size_t permits,
                                                 const wait_policy& wait = std::chrono::seconds{5});

 private:
  [[nodiscard]] std::vector<row_state> held_among(const std::vector<lock_key>& rows) const;

  lock_table& locks_;
  const std::unique_ptr<detail::numbered_rows> rows_;
};

}  // namespace rowlock

#endif
