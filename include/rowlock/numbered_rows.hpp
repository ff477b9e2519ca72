// The rows of one name, and the one that says how many they are.
#ifndef ROWLOCK_NUMBERED_ROWS_HPP
#define ROWLOCK_NUMBERED_ROWS_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "rowlock/boot_clock.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/retry_policy.hpp"

namespace rowlock {

class lock_table;

namespace detail {

/// `type#0` has a note with the number of the others, `type#1` and up. It is written again every
/// ten minutes of use, so that the row is never idle for long enough to be purged while somebody
/// takes rows. (Those who only hold one for hours do not touch it.)
///
/// Thread-safety: all members may be called from any thread.
class numbered_rows {
 public:
  /// `what` are the rows, for people: `permits`. Throws `error` (misuse) for a wrong key or number.
  numbered_rows(lock_key name, std::size_t number, std::string what);

  [[nodiscard]] lock_key gate() const { return numbered(0); }
  /// All but the gate, from one of them on that is another one at each call, and then around.
  [[nodiscard]] std::vector<lock_key> slots();
  [[nodiscard]] std::size_t number() const noexcept { return number_; }

  /// Sees that the table says this number, and writes it where it says none. Throws `error`.
  void agree(lock_table& locks);
  /// Writes this number, whatever the table says.
  void impose(lock_table& locks);

 private:
  [[nodiscard]] lock_key numbered(std::size_t number) const;
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
