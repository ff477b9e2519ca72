// Detection of fork(), and the label of this process.
#include "base/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
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
  if (pthread_getname_np(pthread_self(), name.data(), name.size()) != 0) name[0] = '\0';
  const std::string label = name.data();
  const bool has_controls = std::any_of(label.begin(), label.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < ' ' || byte == '\x7f';
  });
  const bool is_a_name = !label.empty() && !has_controls && is_valid_utf8(label);
  return is_a_name ? label : std::to_string(gettid());
}

std::string holder_label() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::string{host.data()}.substr(0, 100) + ':' + std::to_string(getpid());
}

}  // namespace rowlock::detail
