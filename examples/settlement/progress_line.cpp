// Prints progress to standard output.
#include "progress_line.hpp"

#include <unistd.h>

#include <cmath>
#include <iostream>

namespace settlement {

using namespace std::chrono_literals;

progress_line::progress_line(std::uint64_t invoices)
    : invoices_{invoices},
      is_terminal_{::isatty(STDOUT_FILENO) == 1},
      began_{clock::now()},
      next_{began_ + (is_terminal_ ? 0s : 2s)} {}

void progress_line::show(std::uint64_t settled, std::uint64_t refused, unsigned workers) {
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + (is_terminal_ ? 100ms : 2000ms);
  const auto line = text(settled, refused) + ", " + std::to_string(workers) + " at work";
  if (is_terminal_) {
    std::cout << '\r' << line << "\033[K" << std::flush;
  } else {
    std::cout << line << std::endl;
  }
}

void progress_line::finish(std::uint64_t settled, std::uint64_t refused) {
  if (is_terminal_) std::cout << '\r';
  std::cout << text(settled, refused) << (is_terminal_ ? "\033[K" : "") << std::endl;
}

std::string progress_line::text(std::uint64_t settled, std::uint64_t refused) const {
  const std::chrono::duration<double> spent = clock::now() - began_;
  return std::to_string(settled) + " of " + std::to_string(invoices_) + " settled, " +
         std::to_string(refused) + " refused, " + std::to_string(std::lround(spent.count())) + " s";
}

}  // namespace settlement
