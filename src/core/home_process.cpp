// The process in which something was made.
#include "rowlock/home_process.hpp"

#include <pthread.h>

#include <atomic>

namespace rowlock::detail {

namespace {

std::atomic<unsigned> forks_so_far{0};

}  // namespace

unsigned forks() noexcept {
  static const int counting = pthread_atfork(nullptr, nullptr, [] { ++forks_so_far; });
  static_cast<void>(counting);
  return forks_so_far.load(std::memory_order_relaxed);
}

}  // namespace rowlock::detail
