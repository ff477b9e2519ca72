// Concurrent wait for signals, the end of the command and the loss of the lease.
#include "cli/supervise.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <sstream>
#include <stop_token>
#include <string>
#include <system_error>

#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/say.hpp"
#include "cli/wakeup.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::cli {

namespace {

/// SIGTERM, and SIGKILL after the grace time, for a command whose lease is lost.
class eviction {
 public:
  eviction(const child_process& evicted, std::chrono::milliseconds grace)
      : evicted_{evicted}, grace_{grace} {}

  [[nodiscard]] bool has_begun() const { return step_ != step::none; }

  void begin(const std::string& sent_because) {
    step_ = step::requested;
    kill_at_ = boot_clock::now() + grace_;
    evicted_.send(SIGTERM);
    say(sent_because + " SIGTERM, SIGKILL follows in " + show_duration(grace_));
  }

  void go_on() {
    if (step_ != step::requested || boot_clock::now() < kill_at_) return;
    step_ = step::forced;
    evicted_.send(SIGKILL);
  }

  /// For poll(): milliseconds until there is something to do, -1 for never.
  [[nodiscard]] int timeout() const {
    if (step_ != step::requested) return -1;
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(kill_at_ - boot_clock::now()).count();
    return static_cast<int>(
        std::clamp<milliseconds::rep>(left, 0, std::numeric_limits<int>::max()));
  }

 private:
  enum class step { none, requested, forced };

  const child_process& evicted_;
  const std::chrono::milliseconds grace_;
  step step_ = step::none;
  boot_clock::time_point kill_at_;
};

std::string in_words(const lock_key& key) {
  std::ostringstream words;
  words << key;
  return words.str();
}

/// Stops and continues the command with this process: a stopped process renews no lease, so its
/// command must not run on.
class stopped_together {
 public:
  stopped_together(signal_queue& signals, const child_process& child) : signals_{signals} {
    signals_.stop_with([&child](int number) { child.send(number); });
  }
  stopped_together(const stopped_together&) = delete;
  stopped_together& operator=(const stopped_together&) = delete;
  ~stopped_together() {
    signals_.stop_with([](int /*number*/) {});
  }

 private:
  signal_queue& signals_;
};

bool requests_end(const signalfd_siginfo& came) {
  return came.ssi_signo != SIGCHLD && came.ssi_signo != SIGHUP;
}

/// True if one of them requests the end.
bool pass_on(signal_queue& signals, const child_process& child) {
  bool is_end_requested = false;
  while (const auto came = signals.next()) {
    if (requests_end(*came)) is_end_requested = true;
    if (came->ssi_signo == SIGCHLD || child.was_sent_too(*came)) continue;
    child.send(static_cast<int>(came->ssi_signo));
  }
  return is_end_requested;
}

}  // namespace

command_end supervise(const lease& held, const command& to_run, signal_queue& signals,
                      std::chrono::milliseconds grace) {
  const wakeup lost;  // before the command: the system may refuse it
  child_process child{to_run, signals.original_mask()};
  // A signal of the terminal may have come before the process existed, so it did not get it. Later
  // signals reach it too.
  while (const auto came = signals.next()) {
    if (came->ssi_signo != SIGCHLD) {
      return {exit_code::ended_by_signal(static_cast<int>(came->ssi_signo)), true, false};
    }
  }
  const stopped_together stopping{signals, child};
  // The database, or a reader of messages, may have taken longer than the ttl.
  if (!held.is_valid()) return {exit_code::ended_by_signal(SIGTERM), false, true};
  child.begin();

  const std::stop_callback on_loss{held.lost(), [&lost] { lost.raise(); }};
  eviction evicted{child, grace};
  std::array<pollfd, 2> events{{{signals.descriptor(), POLLIN, 0}, {lost.descriptor(), POLLIN, 0}}};
  bool is_end_requested = false;
  bool was_lost = false;
  for (;;) {
    const auto code = child.ended();
    if (code) {
      if (!child.has_left_others()) return {*code, is_end_requested, was_lost};
      if (!evicted.has_begun()) {
        evicted.begin("the command has ended, but not all that it has started: sent that");
      }
    }
    // No signal reports the end of a process left behind whose parent is in another group.
    constexpr int until_next_look = 100;  // milliseconds
    const int timeout = code ? until_next_look : evicted.timeout();
    if (poll(events.data(), events.size(), timeout) == -1 && errno != EINTR) {
      throw std::system_error{errno, std::generic_category(), "poll"};
    }
    if (pass_on(signals, child)) is_end_requested = true;
    if (events[1].revents != 0) {
      events[1].fd = -1;  // seen: poll() ignores it from now on
      was_lost = true;
      if (!evicted.has_begun()) {
        evicted.begin("lost " + in_words(held.key()) + " while the command was running: sent it");
      }
    }
    evicted.go_on();
  }
}

}  // namespace rowlock::cli
