// Messages about faults, each printed once.
#include "cli/fault_reporter.hpp"

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

}  // namespace rowlock::cli
