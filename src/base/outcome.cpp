// What an outcome throws when it is asked for what it does not have.
#include "rowlock/outcome.hpp"

#include "rowlock/error.hpp"

namespace rowlock::detail {

void throw_refused_outcome_was_used() {
  throw error{errc::misuse, "the outcome is refused and has no value: ask acquired() first"};
}

void throw_acquired_outcome_has_no_refusal() {
  throw error{errc::misuse, "the outcome is acquired and has no refusal: ask acquired() first"};
}

}  // namespace rowlock::detail
