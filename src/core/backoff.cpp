// Walks through a retry_policy.
#include "rowlock/backoff.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock {

namespace {

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

boot_clock::duration drawn_between(boot_clock::duration low, boot_clock::duration high) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return boot_clock::duration{
      std::uniform_int_distribution<boot_clock::rep>{low.count(), high.count()}(random)};
}

}  // namespace

backoff::backoff(retry_policy policy, std::shared_ptr<time_source> time)
    : policy_{std::move(policy)}, time_{std::move(time)}, started_{time_->now()} {
  check(policy_);
}

backoff::verdict backoff::pause(std::optional<boot_clock::duration> at_most) {
  if (policy_.stop.stop_requested()) return verdict::stopped;
  if (is_last_try()) return verdict::exhausted;

  boot_clock::duration next = policy_.first_pause;
  if (tries_ > 1) {
    next = policy_.jitter ? drawn_between(policy_.first_pause, 3 * last_pause_) : 2 * last_pause_;
  } else if (policy_.jitter) {
    next = drawn_between(policy_.first_pause, 3 * next);
  }
  last_pause_ = std::min<boot_clock::duration>(next, policy_.longest_pause);
  next = last_pause_;
  if (at_most) next = std::min(next, std::max(*at_most, boot_clock::duration::zero()));
  if (const auto left = remaining()) next = std::min(next, *left);

  time_->sleep_until(time_->now() + next, policy_.stop);
  if (policy_.stop.stop_requested()) return verdict::stopped;
  ++tries_;
  return verdict::again;
}

std::optional<boot_clock::duration> backoff::remaining() const {
  if (!policy_.give_up_after) return std::nullopt;
  const auto left = started_ + *policy_.give_up_after - time_->now();
  return std::max(left, boot_clock::duration::zero());
}

bool backoff::is_patient() const noexcept {
  const bool has_time = !policy_.give_up_after || policy_.give_up_after->count() > 0;
  return has_time && policy_.attempts != 1U;
}

bool backoff::is_last_try() const {
  if (policy_.attempts && tries_ >= *policy_.attempts) return true;
  const auto left = remaining();
  return left && *left == boot_clock::duration::zero();
}

}  // namespace rowlock
