// Says how far the work is: one line that is overwritten, or, where that is not possible, now and
// then a new one.
#ifndef ROWLOCK_EXAMPLE_PROGRESS_LINE_HPP
#define ROWLOCK_EXAMPLE_PROGRESS_LINE_HPP

#include <chrono>
#include <cstdint>
#include <string>

namespace settlement {

/// Thread-safety: one thread at a time.
class progress_line {
 public:
  explicit progress_line(std::uint64_t invoices);

  /// May be called as often as one likes; prints when it is time.
  void show(std::uint64_t settled, std::uint64_t refused, unsigned workers);
  /// Prints the last line.
  void finish(std::uint64_t settled, std::uint64_t refused);

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] std::string text(std::uint64_t settled, std::uint64_t refused) const;

  std::uint64_t invoices_;
  bool is_terminal_;
  clock::time_point began_;
  clock::time_point next_;
};

}  // namespace settlement

#endif
