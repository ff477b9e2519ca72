// Maps the memory that the processes share, and prints what is in it.
#include "progress.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

namespace settlement {

using namespace std::chrono_literals;

shared_counts::shared_counts() {
  void* memory =
      ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
  shared_ = std::construct_at(static_cast<shared*>(memory));
}

shared_counts::~shared_counts() { ::munmap(shared_, sizeof(shared)); }

std::uint64_t shared_counts::settled() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& one : shared_->workers) sum += one.settled;
  return sum;
}

std::uint64_t shared_counts::refused() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& one : shared_->workers) sum += one.refused_held + one.refused_busy;
  return sum;
}

void shared_counts::await_all(unsigned workers) const noexcept {
  ++shared_->arrived;
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (shared_->arrived < workers && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(1ms);
  }
}

progress_line::progress_line(const shared_counts& counts, std::size_t invoices)
    : counts_{counts},
      invoices_{invoices},
      is_terminal_{::isatty(STDOUT_FILENO) == 1},
      began_{clock::now()},
      next_{began_ + (is_terminal_ ? 0s : 2s)} {}

void progress_line::show(unsigned workers) {
  const auto now = clock::now();
  if (now < next_) return;
  next_ = now + (is_terminal_ ? 100ms : 2000ms);
  const auto line = text() + ", " + std::to_string(workers) + " at work";
  if (is_terminal_) {
    std::cout << '\r' << line << "\033[K" << std::flush;
  } else {
    std::cout << line << std::endl;
  }
}

void progress_line::finish() const {
  if (is_terminal_) std::cout << '\r';
  std::cout << text() << (is_terminal_ ? "\033[K" : "") << std::endl;
}

std::string progress_line::text() const {
  const std::chrono::duration<double> spent = clock::now() - began_;
  return std::to_string(counts_.settled()) + " of " + std::to_string(invoices_) + " settled, " +
         std::to_string(counts_.refused()) + " refused, " +
         std::to_string(std::lround(spent.count())) + " s";
}

}  // namespace settlement
