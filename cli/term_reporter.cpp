// Messages about the terms of a campaign.
#include "cli/term_reporter.hpp"

#include "cli/locked_command.hpp"
#include "cli/say.hpp"

namespace rowlock::cli {

void term_reporter::ended(const lease& term, bool was_said) {
  const std::scoped_lock lock{mutex_};
  ended_ = term.token();
  was_said_ = was_said;
  if (lost_ == ended_ && !was_said_) say(lost_too_soon(term.key()));
}

bool term_reporter::was_lost() const {
  const std::scoped_lock lock{mutex_};
  return ended_ && lost_ == ended_;
}

void term_reporter::lost(const lost_event& event) {
  faults_.ended();
  const std::scoped_lock lock{mutex_};
  lost_ = event.token;
  if (lost_ == ended_ && !was_said_) say(lost_too_soon(event.key));
}

}  // namespace rowlock::cli
