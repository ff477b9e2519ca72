// Releases that are retried in the background.
#include "lease/deferred_releases.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "batch/bisect.hpp"

namespace rowlock::detail {

namespace {

constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::seconds longest_pause{5};

}  // namespace

deferred_releases::deferred_releases(statement_batcher& batcher, lease_registry& registry,
                                     event_dispatcher& events, std::shared_ptr<time_source> time,
                                     std::function<void(const lock_key&)> released)
    : batcher_{batcher},
      registry_{registry},
      events_{events},
      time_{std::move(time)},
      released_{std::move(released)} {}

void deferred_releases::add(std::vector<deferred_release> releases, tried before) {
  if (releases.empty()) return;
  {
    const checked_lock lock{mutex_};
    std::move(releases.begin(), releases.end(), std::back_inserter(deferred_));
    pause_ = first_pause;
    next_at_ = time_->now();
    if (before == tried::just_now) next_at_ += pause_;
  }
  registry_.wake_renewer();
}

void deferred_releases::add(deferred_release release, tried before) {
  std::vector<deferred_release> one;
  one.push_back(std::move(release));
  add(std::move(one), before);
}

void deferred_releases::close_by(boot_clock::time_point end) {
  const checked_lock lock{mutex_};
  over_at_ = std::min(over_at_, end);
}

bool deferred_releases::is_over() {
  const checked_lock lock{mutex_};
  return boot_clock::now() >= over_at_;
}

boot_clock::time_point deferred_releases::next_at() {
  const checked_lock lock{mutex_};
  const bool is_idle = deferred_.empty() || boot_clock::now() >= over_at_;
  return is_idle ? boot_clock::time_point::max() : next_at_;
}

void deferred_releases::emit_released(const deferred_release& made,
                                      boot_clock::time_point sent_at) {
  if (!made.held_for) return;
  events_.emit(&observer::released, [&] {
    return released_event{made.request.key,
                          made.request.version,
                          release_result::released,
                          made.request.failed,
                          to_microseconds(time_->now() - sent_at),
                          to_microseconds(*made.held_for),
                          made.correlation_id};
  });
}

void deferred_releases::release_at_once(std::span<deferred_release> made,
                                        std::vector<deferred_release>& busy) {
  if (made.empty()) return;
  const auto sent_at = time_->now();
  std::vector<release_request> requests;
  requests.reserve(made.size());
  for (const auto& release : made) requests.push_back(release.request_at(sent_at));
  const auto answers = batcher_.release(requests);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (answers[i] == change_answer::busy) {
      busy.push_back(std::move(made[i]));
    } else if (answers[i] == change_answer::done) {
      released_(made[i].request.key);
      emit_released(made[i], sent_at);
    }
  }
}

void deferred_releases::resolve_doubts(std::vector<deferred_release>& releases,
                                       std::vector<deferred_release>& still_in_doubt,
                                       const std::function<bool()>& give_up) {
  std::erase_if(releases, [&](deferred_release& release) {
    if (!release.in_doubt) return false;
    if (give_up()) {
      still_in_doubt.push_back(release);
      return true;
    }
    const auto [answer, fault] = batcher_.acquire(*release.in_doubt, give_up);
    if (fault == nullptr && answer.status == acquire_status::granted) {
      release.request.version = *answer.version;
      release.in_doubt.reset();
      return false;
    }
    if (fault != nullptr || answer.status == acquire_status::busy ||
        answer.version == release.handed_by) {
      still_in_doubt.push_back(release);
    }
    return true;
  });
}

bool deferred_releases::make(const std::function<bool()>& give_up) {
  std::vector<deferred_release> waiting;
  {
    const checked_lock lock{mutex_};
    waiting = std::exchange(deferred_, {});
  }
  const auto now = time_->now();
  std::erase_if(waiting, [now](const auto& release) { return release.runs_out_at <= now; });
  if (waiting.empty()) return true;

  std::vector<deferred_release> still_waiting;
  still_waiting.reserve(waiting.size());  // no allocation may fail after a release
  resolve_doubts(waiting, still_waiting, give_up);
  const std::span all{waiting};
  bisect(
      {.count = waiting.size()}, [&](slice some) { release_at_once(some.of(all), still_waiting); },
      [&](slice some,
          const std::exception_ptr& fault) {  // retried until it runs out
        const auto failed = some.of(all);
        events_.emit_fault(fault_operation::release, failed.front().request.key, failed.size(),
                           fault, time_->now() - now,
                           common_id(failed.size(), failed.front().correlation_id));
        std::move(failed.begin(), failed.end(), std::back_inserter(still_waiting));
      },
      give_up);
  const checked_lock lock{mutex_};
  std::move(still_waiting.begin(), still_waiting.end(), std::back_inserter(deferred_));
  pause_ = std::min<boot_clock::duration>(2 * pause_, longest_pause);
  next_at_ = time_->now() + pause_;
  return deferred_.empty();
}

}  // namespace rowlock::detail
