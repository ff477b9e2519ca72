// How long to pause before the next try.
#include "base/next_pause.hpp"

#include <algorithm>
#include <random>

#include "base/fault_kind.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

boot_clock::duration drawn_between(boot_clock::duration low, boot_clock::duration high) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return boot_clock::duration{
      std::uniform_int_distribution<boot_clock::rep>{low.count(), high.count()}(random)};
}

void check(const retry_policy& policy) {
  if (policy.attempts && *policy.attempts == 0) {
    throw error{errc::misuse, "a retry policy of zero attempts: allow at least one"};
  }
  if (policy.first_pause <= std::chrono::milliseconds::zero() ||
      policy.longest_pause < policy.first_pause) {
    throw error{errc::misuse,
                "a retry policy needs a first pause above zero and a longest pause not below it"};
  }
}

bool is_patient(const retry_policy& policy) noexcept {
  const bool has_time = !policy.give_up_after || policy.give_up_after->count() > 0;
  return has_time && policy.attempts != 1U;
}

bool outlasts(const retry_policy& wait, const std::exception_ptr& fault) {
  return is_patient(wait) && wait.through_outages.value_or(true) && may_pass(fault);
}

boot_clock::duration next_pause(const retry_policy& policy, boot_clock::duration last) {
  const boot_clock::duration first = bounded(policy.first_pause);
  boot_clock::duration next = last == boot_clock::duration::zero() ? first : 2 * last;
  if (policy.jitter) next = drawn_between(first, 3 * std::max(first, last));
  return std::min<boot_clock::duration>(next, bounded(policy.longest_pause));
}

}  // namespace rowlock::detail
