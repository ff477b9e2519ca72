// Retry policies, recognition of conflicts, and waits for row locks.
#include "rowlock/retry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <random>
#include <utility>

#include "base/faults.hpp"
#include "base/pause.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

backoff::backoff(retry_policy policy, std::shared_ptr<time_source> time)
    : policy_{std::move(policy)}, time_{std::move(time)}, started_{time_->now()} {
  detail::check(policy_);
}

backoff::verdict backoff::pause(std::optional<boot_clock::duration> max_pause,
                                const std::function<void(unsigned, boot_clock::duration)>& before) {
  if (policy_.stop.stop_requested()) return verdict::stopped;
  if (is_last_try()) return verdict::exhausted;

  last_pause_ = detail::next_pause(policy_, last_pause_);
  boot_clock::duration next = last_pause_;
  if (max_pause) next = std::min(next, std::max(*max_pause, boot_clock::duration::zero()));
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

retry_policy no_wait() { return {.attempts = 1}; }

retry_policy wait_for(std::chrono::milliseconds duration, std::stop_token stop) {
  return {.give_up_after = duration, .stop = std::move(stop)};
}

retry_policy wait_until_stopped(std::stop_token stop) { return {.stop = std::move(stop)}; }

retry_policy wait_forever() { return {}; }

}  // namespace rowlock

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
  if (!is_patient(wait) || !wait.through_outages.value_or(true)) return false;
  return may_pass(fault) || (wait.through_refused_logins && is_refused_login(fault));
}

boot_clock::duration next_pause(const retry_policy& policy, boot_clock::duration last) {
  const boot_clock::duration first = bounded(policy.first_pause);
  boot_clock::duration next = last == boot_clock::duration::zero() ? first : 2 * last;
  if (policy.jitter) next = drawn_between(first, 3 * std::max(first, last));
  return std::min<boot_clock::duration>(next, bounded(policy.longest_pause));
}

namespace {

using conflict_test = bool (*)(const std::exception&);

/// One slot for each driver; there are few drivers.
std::array<std::atomic<conflict_test>, 8>& known_tests() noexcept {
  static std::array<std::atomic<conflict_test>, 8> tests{};
  return tests;
}

}  // namespace

void recognise_conflicts(conflict_test test) noexcept {
  for (auto& place : known_tests()) {
    conflict_test found = nullptr;
    if (place.compare_exchange_strong(found, test) || found == test) return;
  }
}

bool is_conflict(const std::exception& thrown) noexcept {
  for (const auto& place : known_tests()) {
    const conflict_test test = place.load();
    if (test == nullptr) return false;
    if (test(thrown)) return true;
  }
  return false;
}

bool is_unavailable(const std::exception& thrown) noexcept {
  const auto* fault = dynamic_cast<const error*>(&thrown);
  return fault != nullptr && fault->kind() == errc::unavailable;
}

std::optional<refusal> wait_for_rows(
    const retry_policy& wait,
    const std::function<std::optional<refusal>(std::chrono::milliseconds slice)>& try_once) {
  using std::chrono::milliseconds;
  // A stop takes effect only between slices, but the end of a slice gives up the place in the
  // database's lock queue. With limited attempts, each try waits as long as a pause might.
  const milliseconds longest_slice{wait.stop.stop_possible() || wait.attempts ? 1000 : 10'000};
  backoff pauses{wait};
  for (;;) {
    milliseconds slice = longest_slice;
    if (pauses.is_last_try()) slice = milliseconds::zero();
    if (const auto left = pauses.remaining()) {
      slice = std::min(slice, std::chrono::ceil<milliseconds>(*left));
    }
    auto refused = try_once(slice);
    const bool may_pass = refused && refused->reason != refusal_reason::stale &&
                          refused->reason != refusal_reason::deadlock &&
                          refused->reason != refusal_reason::missing;
    if (!may_pass) return refused;
    const auto verdict = pauses.pause(next_chance(*refused));
    if (verdict != backoff::verdict::again) return given_up(*std::move(refused), verdict, pauses);
  }
}

void throw_commit_in_callback() {
  throw error{errc::misuse,
              "the transaction is committed when the callback returns: do not commit it there, as "
              "the work after that commit is unprotected and the work before it is kept; to roll "
              "back, throw, or abort() and return"};
}

void throw_over_before_commit() {
  throw error{
      errc::misuse,
      "the transaction was over before its commit. If a COMMIT of the callback ended it, the work "
      "until then is kept, and the rest was unprotected: remove that statement. If the database "
      "rolled it back for an error (a deadlock, a full disk) that the callback may have swallowed, "
      "nothing of it is kept: let such an exception leave the callback"};
}

}  // namespace rowlock::detail
