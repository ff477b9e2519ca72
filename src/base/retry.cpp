// Walks through a retry_policy.
#include <algorithm>
#include <utility>

#include "base/next_pause.hpp"
#include "rowlock/backoff.hpp"

namespace rowlock {

backoff::backoff(retry_policy policy, std::shared_ptr<time_source> time)
    : policy_{std::move(policy)}, time_{std::move(time)}, started_{time_->now()} {
  detail::check(policy_);
}

backoff::verdict backoff::pause(std::optional<boot_clock::duration> at_most,
                                const std::function<void(unsigned, boot_clock::duration)>& before) {
  if (policy_.stop.stop_requested()) return verdict::stopped;
  if (is_last_try()) return verdict::exhausted;

  last_pause_ = detail::next_pause(policy_, last_pause_);
  boot_clock::duration next = last_pause_;
  if (at_most) next = std::min(next, std::max(*at_most, boot_clock::duration::zero()));
  if (const auto left = remaining()) next = std::min(next, *left);

  if (before) before(tries_ + 1, next);
  time_->sleep_until(time_->now() + next, policy_.stop);
  if (policy_.stop.stop_requested()) return verdict::stopped;
  ++tries_;
  return verdict::again;
}

std::optional<boot_clock::duration> backoff::remaining() const {
  if (!policy_.give_up_after) return std::nullopt;
  const auto left = started_ + detail::bounded(*policy_.give_up_after) - time_->now();
  return std::max(left, boot_clock::duration::zero());
}

bool backoff::is_patient() const noexcept { return detail::is_patient(policy_); }

bool backoff::is_last_try() const {
  if (policy_.attempts && tries_ >= *policy_.attempts) return true;
  const auto left = remaining();
  return left && *left == boot_clock::duration::zero();
}

}  // namespace rowlock
