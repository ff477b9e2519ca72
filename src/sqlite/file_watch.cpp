// Hints that another process has written to a SQLite file.
#include "sqlite/file_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/threads.hpp"

namespace rowlock::sqlite {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// A deleted journal is a commit, where the file has no write-ahead log.
constexpr std::uint32_t writes = IN_MODIFY | IN_MOVED_TO | IN_DELETE;

/// A write precedes the commit that it is part of: by microseconds, or by a flush of the disk. So
/// the hint is repeated, after pauses that double.
constexpr clock::duration first_repeat = 5ms;
constexpr clock::duration longest_repeat = 80ms;

/// After a hint, events are left to the kernel, which keeps one of many alike. While nobody waits,
/// for as long as the shortest pause between two reads without hints.
constexpr std::chrono::milliseconds rest = 5ms;
constexpr std::chrono::milliseconds rest_alone = 50ms;

/// Closed with the object.
class descriptor {
 public:
  explicit descriptor(int opened) noexcept : opened_{opened} {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  descriptor(descriptor&& other) noexcept : opened_{std::exchange(other.opened_, -1)} {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (opened_ != -1) close(opened_);
  }
  [[nodiscard]] int get() const noexcept { return opened_; }
  [[nodiscard]] bool is_open() const noexcept { return opened_ != -1; }

 private:
  int opened_;
};

class file_watch final : public subscription {
 public:
  file_watch(descriptor events, descriptor end, std::string name, release_listener& listener)
      : events_{std::move(events)},
        end_{std::move(end)},
        name_{std::move(name)},
        listener_{listener} {
    detail::start_thread("hear of writes with",
                         [this] { thread_ = std::thread{[this] { run(); }}; });
  }
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;
  ~file_watch() override {
    (void)eventfd_write(end_.get(), 1);
    thread_.join();
  }

  [[nodiscard]] bool names_keys() const noexcept override { return false; }

 private:
  void run();
  /// Waits until `until` for events, or for the end alone; false at the end.
  [[nodiscard]] bool wait(clock::time_point until, bool for_events) const;
  /// Whether one of the events is about the file.
  [[nodiscard]] bool take_events() const;
  [[nodiscard]] bool is_of_file(std::string_view changed) const;

  const descriptor events_;  // of inotify
  const descriptor end_;     // an eventfd
  const std::string name_;   // of the file, in its folder
  release_listener& listener_;
  std::thread thread_;
};

void file_watch::run() {
  auto repeat_at = clock::time_point::max();
  auto pause = first_repeat;
  auto rests_for = rest;
  while (wait(repeat_at, true)) {
    const bool is_written = take_events();
    const auto now = clock::now();
    if (is_written || now >= repeat_at) {
      pause = is_written ? first_repeat : 2 * pause;
      const bool is_awaited = listener_.changed();
      const bool repeats = is_awaited && pause <= longest_repeat;
      repeat_at = repeats ? now + pause : clock::time_point::max();
      rests_for = is_awaited ? rest : rest_alone;
    }
    if (!wait(now + rests_for, false)) return;
  }
}

bool file_watch::wait(clock::time_point until, bool for_events) const {
  std::array<pollfd, 2> awaited{{{.fd = end_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = events_.get(), .events = POLLIN, .revents = 0}}};
  int longest = -1;
  if (until != clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    longest = std::max(0, static_cast<int>(left.count()));
  }
  (void)poll(awaited.data(), for_events ? 2 : 1, longest);
  return awaited[0].revents == 0;
}

bool file_watch::take_events() const {
  std::array<std::byte, 4096> read_bytes{};  // there is room for at least ten
  const auto length = read(events_.get(), read_bytes.data(), read_bytes.size());
  bool is_written = false;
  for (std::ptrdiff_t place = 0; place < length;) {
    inotify_event event{};
    std::memcpy(&event, read_bytes.data() + place, sizeof event);
    const auto* const name = read_bytes.data() + place + sizeof event;
    const bool is_lost = (event.mask & IN_Q_OVERFLOW) != 0;
    is_written =
        is_written || is_lost ||
        (event.len > 0 && is_of_file(static_cast<const char*>(static_cast<const void*>(name))));
    place += static_cast<std::ptrdiff_t>(sizeof event + event.len);
  }
  return is_written;
}

bool file_watch::is_of_file(std::string_view changed) const {
  if (!changed.starts_with(name_)) return false;
  const auto rest_of_name = changed.substr(name_.size());
  return rest_of_name.empty() || rest_of_name == "-wal" || rest_of_name == "-journal";
}

}  // namespace

// The folder is watched, since the log is created, deleted and replaced.
std::unique_ptr<subscription> watch_file(const std::string& path, release_listener& listener) {
  std::error_code failed;
  const auto file = std::filesystem::canonical(path, failed);
  if (failed) return nullptr;
  descriptor events{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
  descriptor end{eventfd(0, EFD_CLOEXEC)};
  if (!events.is_open() || !end.is_open()) return nullptr;
  const auto folder = file.parent_path();
  if (inotify_add_watch(events.get(), folder.c_str(), writes | IN_ONLYDIR) == -1) return nullptr;
  return std::make_unique<file_watch>(std::move(events), std::move(end), file.filename(), listener);
}

}  // namespace rowlock::sqlite
