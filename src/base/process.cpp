// Detection of fork(), and the label of this process.
#include "base/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>

#include "base/text.hpp"
#include "rowlock/detail/home_process.hpp"

namespace rowlock::detail {

namespace {

// A handler of fork() gets no argument, so the counter is static.
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

std::string thread_label() {
  std::array<char, longest_thread_label + 1> name{};
  const bool is_named = pthread_getname_np(pthread_self(), name.data(), name.size()) == 0;
  if (is_named && is_valid_utf8(name.data())) return name.data();
  return std::to_string(gettid());
}

std::string holder_label() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::string{host.data()}.substr(0, 100) + ':' + std::to_string(getpid());
}

}  // namespace rowlock::detail
