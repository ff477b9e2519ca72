// Says what happens to a campaign.
#include "cli/term_teller.hpp"

#include "cli/locked_command.hpp"
#include "cli/say.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

void term_teller::ended(const lease& term, bool was_said) {
  const std::scoped_lock lock{mutex_};
  ended_ = term.token();
  was_said_ = was_said;
  if (lost_ == ended_ && !was_said_) say(lost_too_soon(term.key()));
}

bool term_teller::was_lost() const {
  const std::scoped_lock lock{mutex_};
  return ended_ && lost_ == ended_;
}

void term_teller::acquired(const acquired_event& /*event*/) { last_fault_.clear(); }

void term_teller::lost(const lost_event& event) {
  const std::scoped_lock lock{mutex_};
  lost_ = event.token;
  if (lost_ == ended_ && !was_said_) say(lost_too_soon(event.key));
}

void term_teller::fault(const fault_event& event) {
  if (event.text == last_fault_) return;
  last_fault_ = event.text;
  say(event.text + what_follows(event));
}

std::string term_teller::what_follows(const fault_event& event) const {
  if (event.operation == fault_operation::release) {
    return "; if no later try releases the key, it frees itself at the end of its ttl";
  }
  const bool will_pass = event.code == errc::unavailable || event.code == errc::outcome_unknown;
  const bool is_of_a_term = event.operation == fault_operation::renew;
  const bool goes_on = is_of_a_term || (will_pass && !stop_.stop_requested());
  return goes_on ? "; trying again" : "";
}

}  // namespace rowlock::cli
