// Does not compile, and is to say why: work that returns ROWLOCK_ANSWER, given to retry.
#include "rowlock/retry.hpp"

namespace {

void call(const rowlock::retry_policy& policy) {
  (void)rowlock::retry(policy, [] { return ROWLOCK_ANSWER(); });
}

}  // namespace
