// Messages about faults, each printed once, and about a lost key.
#include "cli/loss_reporter.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>

#include "cli/duration.hpp"
#include "cli/fault_text.hpp"
#include "cli/say.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

constexpr std::size_t most_said = 20;

bool will_pass(const fault_event& event) {
  return event.code == errc::unavailable || event.code == errc::outcome_unknown;
}

}  // namespace

void fault_reporter::acquired() noexcept {
  said_.clear();
  holds_ = true;
}

void fault_reporter::say_once(const fault_event& event) {
  // A renewal that was under way when the lease ended is not retried, and changes nothing.
  if (event.operation == fault_operation::renew && !holds_) return;
  // It ends the command, and is its last message.
  if (event.operation == fault_operation::acquire && !will_pass(event)) return;
  const auto line = fault_text(event.text, event.code) + what_follows(event);
  const bool is_release = event.operation == fault_operation::release;
  if (said_.size() == most_said) return;
  if (said_.insert(is_release ? std::string{} : line).second) say(line);
}

bool fault_reporter::is_tried_again(const fault_event& event) const {
  if (event.operation == fault_operation::renew) return true;
  return will_pass(event) && !stop_.stop_requested();
}

std::string fault_reporter::what_follows(const fault_event& event) const {
  if (event.operation == fault_operation::release) {
    return "; if no later try releases the key, it frees itself at the end of its ttl";
  }
  return is_tried_again(event) ? "; trying again" : "";
}

void loss_reporter::await_reason() {
  detail::checked_lock lock{mutex_};
  was_said_.wait_for(lock.native(), std::chrono::seconds{2}, [this] {
    mutex_.assume_locked();
    return is_said_;
  });
}

void loss_reporter::look_back(const lease& held) noexcept {
  try {
    const auto row = rows_.read(std::array{held.key()}).front();
    // Another version: the key was taken away already, perhaps by force.
    if (!row || row->version != held.token()) return;
    const detail::checked_lock lock{mutex_};
    former_force_reason_ = row->force_reason;
  } catch (const std::exception&) {  // failing to read the reason must not fail the command
  }
}

void loss_reporter::acquired(const acquired_event& /*event*/) {
  renewed_at_ = boot_clock::now();
  faults_.acquired();
}

void loss_reporter::renewed(const renewed_event& /*event*/) {
  renewed_at_ = boot_clock::now();
  last_fault_.clear();
  faults_.renewed();
}

void loss_reporter::fault(const fault_event& event) {
  if (event.operation == fault_operation::renew) last_fault_ = fault_text(event.text, event.code);
  const bool is_waited_out = waits_ && faults_.is_tried_again(event);
  if (event.operation == fault_operation::acquire && !is_waited_out) return;
  faults_.say_once(event);
}

void loss_reporter::lost(const lost_event& event) {
  faults_.ended();
  say(in_words(event.key) + " was lost: " + why(event));
  const detail::checked_lock lock{mutex_};
  is_said_ = true;
  was_said_.notify_all();
}

std::string loss_reporter::why(const lost_event& event) {
  if (event.reason == loss_reason::taken_away) return why_taken(event.key);
  if (event.reason == loss_reason::no_progress) return std::string{no_progress};
  return why_run_out(event.held_for);
}

std::string loss_reporter::why_taken(const lock_key& key) {
  std::optional<row_state> row;
  try {
    row = rows_.read(std::array{key}).front();
  } catch (const std::exception&) {  // print what is known
    return "it was taken away";
  }
  if (!row) return "its row is gone: it was deleted, or an older table was put back";
  std::string reason = "it was taken away; it has no holder now";
  if (row->owned) {
    reason =
        fmt::format("it was taken away; {} has it since {} UTC", row->holder, row->acquired_at);
  }
  const detail::checked_lock lock{mutex_};
  if (!row->force_reason.empty() && row->force_reason != former_force_reason_) {
    reason += "; the last release by force says: " + row->force_reason;
  }
  return reason;
}

std::string loss_reporter::why_run_out(std::chrono::microseconds held) const {
  const auto until_now = [](boot_clock::time_point since) {
    return show_duration(
        std::chrono::duration_cast<std::chrono::microseconds>(boot_clock::now() - since));
  };
  const auto silence = until_now(renewed_at_);
  if (renew_for_ && held >= *renew_for_)
    return "--at-most " + show_duration(*renew_for_) + " is over";
  if (const auto locked_since = rows_.locked_since()) {
    return fmt::format(
        "another transaction has had its row locked for {} or longer; it was renewed last {} ago",
        until_now(*locked_since), silence);
  }
  if (!last_fault_.empty()) {
    return fmt::format("it was not renewed in the last {}: {}", silence, last_fault_);
  }
  return fmt::format(
      "no renewal was answered in the last {}; the database is silent, or this process was stopped",
      silence);
}

}  // namespace rowlock::cli
