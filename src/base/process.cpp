// The process in which something was made.
#include <pthread.h>

#include <atomic>

#include "rowlock/home_process.hpp"

namespace rowlock::detail {

namespace {

// The handler of a fork() is given nothing, so it needs a place that it knows.
std::atomic<unsigned>& forks_so_far() noexcept {
  static constinit std::atomic<unsigned> count{0};
  return count;
}

}  // namespace

unsigned forks() noexcept {
  static const int counting = pthread_atfork(nullptr, nullptr, [] { ++forks_so_far(); });
  static_cast<void>(counting);
  return forks_so_far().load(std::memory_order_relaxed);
}

}  // namespace rowlock::detail
