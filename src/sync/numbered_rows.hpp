// The rows of one name, and the one that says how many they are.
#ifndef ROWLOCK_SYNC_NUMBERED_ROWS_HPP
#define ROWLOCK_SYNC_NUMBERED_ROWS_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

class lease;
class lock_table;

namespace detail {

/// `type#0`, the record, has a note with the number of the others, `type#1` and up. Whoever uses
/// them moves its version every ten minutes, so that no purge under way takes it for idle while
/// somebody counts on it; when they are only held, it stays because they are there
/// (`store::purge`).
///
/// Thread-safety: all members may be called from any thread.
class numbered_rows {
 public:
  /// `what` are the rows, for people: `permits`. Throws `error` (misuse) for a wrong key or number.
  numbered_rows(lock_key name, std::size_t number, std::string what);

  [[nodiscard]] lock_key record() const { return numbered(0); }
  /// One more row, for an order among those who take several.
  [[nodiscard]] lock_key gate() const { return numbered(number_ + 1); }
  /// From one of them on that is another one at each call, and then around.
  [[nodiscard]] std::vector<lock_key> slots();

  /// One try to see that the table says this number, and to write it where it says none. A refusal:
  /// somebody is about to write it, or a transaction has the record. No statement within ten
  /// minutes of the last agreement, else three, one more to write and two for a missing record.
  /// Throws `error`: misuse where the table says another number.
  std::optional<refusal> agree(lock_table& locks);
  /// Writes this number, whatever the table says.
  outcome<void> impose(lock_table& locks, const retry_policy& wait);

 private:
  [[nodiscard]] lock_key numbered(std::size_t number) const;
  /// Refused as busy only where the record is in use for longer than a moment.
  [[nodiscard]] outcome<lease> take_record(lock_table& locks, const retry_policy& wait) const;
  std::optional<refusal> write(lock_table& locks, lease& held) const;
  [[nodiscard]] std::string note() const;
  /// True: the table says this number. Throws `error` (misuse) if it says another one.
  [[nodiscard]] bool is_agreed(const std::string& told) const;

  lock_key name_;
  std::size_t number_;
  std::string what_;
  std::atomic<std::size_t> next_{0};
  std::atomic<boot_clock::time_point> agreed_until_{boot_clock::time_point::min()};
};

}  // namespace detail
}  // namespace rowlock

#endif
