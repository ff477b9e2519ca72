// Says each fault once.
#include "cli/fault_teller.hpp"

#include "cli/say.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

void fault_teller::say_once(const fault_event& event) {
  if (event.text == last_) return;
  last_ = event.text;
  say(event.text + what_follows(event));
}

bool fault_teller::is_tried_again(const fault_event& event) const {
  if (event.operation == fault_operation::renew) return true;
  const bool will_pass = event.code == errc::unavailable || event.code == errc::outcome_unknown;
  return will_pass && !stop_.stop_requested();
}

std::string fault_teller::what_follows(const fault_event& event) const {
  if (event.operation == fault_operation::release) {
    return "; if no later try releases the key, it frees itself at the end of its ttl";
  }
  return is_tried_again(event) ? "; trying again" : "";
}

}  // namespace rowlock::cli
