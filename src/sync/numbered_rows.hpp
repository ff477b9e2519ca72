// Numbered rows of one name, and the record of their number.
#ifndef ROWLOCK_SYNC_NUMBERED_ROWS_HPP
#define ROWLOCK_SYNC_NUMBERED_ROWS_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lease/lease_keeper.hpp"
#include "lock/set_attempt.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

namespace detail {

enum class numbering {
  fixed,       ///< Users with another number are wrong.
  changeable,  ///< A number that was imposed counts for all users.
};

/// `type#0`, the record, has a note with the number of the other rows, `type#1` and up. Each user
/// of the rows raises the record's version every ten minutes, so that a purge under way does not
/// take it for idle. While the rows are only held, the record stays because they exist
/// (`store::purge`).
///
/// Thread-safety: all members may be called from any thread.
class numbered_rows {
 public:
  /// `what` names the rows in messages, as in `permits`. Throws `error` (misuse) for a wrong key or
  /// number.
  numbered_rows(lock_key name, std::size_t number, std::string what, numbering kind);

  [[nodiscard]] const lock_key& name() const noexcept { return name_; }
  [[nodiscard]] lock_key record() const { return numbered(0); }
  /// One more row, for an order among callers that take several rows.
  [[nodiscard]] lock_key gate() const { return numbered(number_ + 1); }
  /// All rows in cyclic order; each call begins at the next row.
  [[nodiscard]] std::vector<lock_key> slots();
  /// All rows that any number could have, in order.
  [[nodiscard]] std::vector<lock_key> every_slot() const;

  /// Agrees on the number, then calls `try_once(attempt, held)`, as `set_attempt` says, until it
  /// sets `held`.
  template <class Held, class Try>
  outcome<Held> acquire(lock_table& locks, const acquire_options& options, const Try& try_once) {
    locks.check_for_several(options);
    const auto keeper = locks.keeper_;
    keeper->home().require();
    const auto stored = locks.in_scope(record());
    const auto here = keeper->begin_operation();
    if (!here) return refusal{.reason = refusal_reason::stopped, .key = stored};
    set_attempt attempt{*keeper, options, what_, {stored}};
    std::optional<Held> held;
    auto refused = attempt.run([&] {
      auto disagreed = agree(locks, attempt);
      return disagreed ? disagreed : attempt.go_on([&] { return try_once(attempt, held); });
    });
    if (refused) return *std::move(refused);
    return *std::move(held);
  }
  /// Writes this number for all users, even over another one.
  outcome<void> impose(lock_table& locks, const retry_policy& wait);
  /// Takes up the number in the record, if there is one. Throws as `agree`.
  void read_number(lock_table& locks);

 private:
  /// Checks as the first step of `attempt` that the record has this number, takes up an imposed
  /// one, and writes its own if there is none. A try is refused while another process is about to
  /// write it, or a transaction has the record. Within ten minutes of the last agreement no
  /// statement, or for a changeable number a read every ten seconds; otherwise a try has three,
  /// plus one to write, plus two for a missing record. Throws `error`: misuse if the record has
  /// another number that was not imposed.
  std::optional<refusal> agree(lock_table& locks, set_attempt& attempt);
  std::optional<refusal> agree_once(lock_table& locks);
  [[nodiscard]] bool is_fresh(boot_clock::time_point now) const noexcept;
  [[nodiscard]] lock_key numbered(std::size_t number) const;
  /// Refused as busy only if the record is in use for longer than a moment.
  [[nodiscard]] outcome<lease> take_record(lock_table& locks, const retry_policy& wait) const;
  static std::optional<refusal> write(lease& held, const std::string& note);
  [[nodiscard]] std::string note() const;
  /// Whether the record has this number, or an imposed one, which is taken up; false if it has
  /// none. Throws `error` (misuse) for another one.
  [[nodiscard]] bool is_agreed(const std::string& found);

  lock_key name_;
  const std::size_t wanted_;
  std::string what_;
  const numbering kind_;
  std::atomic<std::size_t> number_;
  std::atomic<std::size_t> next_{0};
  std::atomic<boot_clock::time_point> agreed_until_{boot_clock::time_point::min()};
  std::atomic<boot_clock::time_point> read_until_{boot_clock::time_point::min()};
};

}  // namespace detail
}  // namespace rowlock

#endif
