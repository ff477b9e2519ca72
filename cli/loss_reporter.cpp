// Messages about a lost key and its reason.
#include "cli/loss_reporter.hpp"

#include <array>
#include <exception>
#include <sstream>

#include "cli/duration.hpp"
#include "cli/fault_text.hpp"
#include "cli/say.hpp"

namespace rowlock::cli {

void loss_reporter::await_reason() {
  std::unique_lock lock{mutex_};
  was_said_.wait_for(lock, std::chrono::seconds{2}, [this] { return is_said_; });
}

void loss_reporter::look_back(const lease& held) noexcept {
  try {
    const auto row = rows_.read(std::array{held.key()}).front();
    // Another version: the key was taken away already, perhaps by force.
    if (!row || row->version != held.token()) return;
    const std::scoped_lock lock{mutex_};
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
  std::ostringstream reason;
  reason << event.key << " was lost: "
         << (event.reason == loss_reason::taken_away ? why_taken(event.key)
                                                     : why_run_out(event.held));
  say(reason.str());
  const std::scoped_lock lock{mutex_};
  is_said_ = true;
  was_said_.notify_all();
}

std::string loss_reporter::why_taken(const lock_key& key) {
  std::optional<row_state> row;
  try {
    row = rows_.read(std::array{key}).front();
  } catch (const std::exception&) {  // print what is known
    return "it was taken away";
  }
  if (!row) return "its row is gone: it was deleted, or an older table was put back";
  std::string reason = "it was taken away; ";
  if (row->owned) {
    reason += row->holder + " has it since " + row->acquired_at + " UTC";
  } else {
    reason += "it has no holder now";
  }
  const std::scoped_lock lock{mutex_};
  if (!row->force_reason.empty() && row->force_reason != former_force_reason_) {
    reason += "; the last release by force says: " + row->force_reason;
  }
  return reason;
}

std::string loss_reporter::why_run_out(std::chrono::microseconds held) const {
  const auto since =
      std::chrono::duration_cast<std::chrono::microseconds>(boot_clock::now() - renewed_at_);
  const auto ago = show_duration(since) + " ago";
  if (at_most_ && held >= *at_most_) return "--at-most " + show_duration(*at_most_) + " is over";
  if (const auto locked_since = rows_.locked_since()) {
    const auto locked_for =
        std::chrono::duration_cast<std::chrono::microseconds>(boot_clock::now() - *locked_since);
    return "another transaction has had its row locked for " + show_duration(locked_for) +
           " or longer; it was renewed last " + ago;
  }
  if (!last_fault_.empty())
    return "it was not renewed in the last " + show_duration(since) + ": " + last_fault_;
  return "no renewal was answered in the last " + show_duration(since) +
         "; the database is silent, or this process was stopped";
}

}  // namespace rowlock::cli
