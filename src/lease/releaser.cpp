// The release of leases by their holders.
#include "lease/releaser.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "base/pause.hpp"

namespace rowlock::detail {

releaser::releaser(const home_process& home, operation_gate& gate, lease_registry& registry,
                   statement_batcher& batcher, wait_queue& queue, wait_loop& loop,
                   deferred_releases& deferred, event_dispatcher& events,
                   std::shared_ptr<time_source> time, std::stop_token closing)
    : home_{home},
      gate_{gate},
      registry_{registry},
      batcher_{batcher},
      queue_{queue},
      loop_{loop},
      deferred_{deferred},
      events_{events},
      time_{std::move(time)},
      closing_{std::move(closing)} {}

void releaser::released_by_commit(lease_state& ended) noexcept {
  if (!home_.is_here() || !registry_.end(ended, lease_phase::released)) return;
  ended.is_unset = true;
  emit_released(ended, release_result::released, false, time_->now());
}

void releaser::passed_on(const lease_state& passed, boot_clock::time_point began) noexcept {
  emit_released(passed, release_result::passed_on, false, began);
}

void releaser::release_later(lease_state& ended) noexcept {
  if (!home_.is_here()) return;
  if (const auto here = gate_.enter()) release_later(ended, {}, *here);
}

void releaser::release_later(lease_state& ended, const work_result& how,
                             const operation_gate::guard& /*here*/) noexcept {
  if (!registry_.end(ended, lease_phase::released)) return;
  const auto now = time_->now();
  emit_released(ended, release_result::deferred, how.failed, now);
  try {
    deferred_.add({ended, now, how, now - ended.requested_at}, deferred_releases::tried::never);
  } catch (const std::bad_alloc&) {  // the row is free when the lease runs out
  }
}

bool releaser::end(lease_state& ended, boot_clock::time_point began,
                   release_result& result) noexcept {
  result = ended.phase == lease_phase::passed_on ? release_result::passed_on : release_result::lost;
  if (ended.is_unset.exchange(false)) {
    result = release_result::released;
    return false;
  }
  // An expired lease is lost, even if the watcher has not ended it yet.
  if (began >= ended.valid_until.load() || !registry_.end(ended, lease_phase::released)) {
    return false;
  }
  result = release_result::deferred;
  return true;
}

release_result releaser::release(lease_state& ended, const work_result& how) noexcept {
  if (ended.phase == lease_phase::passed_on) return release_result::passed_on;
  // The destructor of a lease that was already released gets here, too.
  const bool is_over = ended.phase != lease_phase::held && !ended.is_unset;
  if (is_over || !home_.is_here()) return release_result::lost;
  const auto here = gate_.enter();
  const auto began = here ? time_->now() : boot_clock::time_point::max();
  auto result = release_result::lost;
  if (!end(ended, began, result)) return result;
  try {
    ended_lease one{&ended, 0};
    auto request = ended.to_release(began, how);
    release_rows({{&one, 1}, {&request, 1}}, {&result, 1}, how, began);
  } catch (const std::bad_alloc&) {  // the result is `deferred`
  }
  return result;
}

void releaser::release(std::span<lease_state* const> ended, std::span<release_result> results,
                       const work_result& how) noexcept {
  std::ranges::fill(results, release_result::lost);
  if (!home_.is_here()) return;
  try {
    release_now(ended, results, how);
  } catch (const std::bad_alloc&) {
    // No lease may stay in the registry, which would renew it for ever.
    for (std::size_t place = 0; place < ended.size(); ++place) {
      if (ended[place]->is_unset.exchange(false)) {
        results[place] = release_result::released;
      } else if (registry_.end(*ended[place], lease_phase::released)) {
        results[place] = release_result::deferred;
      }
    }
  }
}

void releaser::release_now(std::span<lease_state* const> ended, std::span<release_result> results,
                           const work_result& how) {
  std::vector<ended_lease> each;
  std::vector<release_request> requests;
  each.reserve(ended.size());
  requests.reserve(ended.size());
  const auto here = gate_.enter();
  const auto began = here ? time_->now() : boot_clock::time_point::max();
  for (std::size_t place = 0; place < ended.size(); ++place) {
    if (!end(*ended[place], began, results[place])) continue;
    requests.push_back(ended[place]->to_release(began, how));
    each.push_back({ended[place], place});
  }
  if (!each.empty()) release_rows({each, requests}, results, how, began);
}

void releaser::release_rows(pending left, std::span<release_result> results, const work_result& how,
                            boot_clock::time_point began) {
  const auto report = [&](const ended_lease& one, release_result result) {
    results[one.place] = result;
    if (result == release_result::released) queue_.released(one.lease->key);
    emit_ended(*one.lease, result, how.failed, began);
  };
  try {
    if (hand_off(left)) {
      const auto& [lease, place] = left.each.front();
      results[place] = release_result::released;
      return emit_released(*lease, release_result::released, how.failed, began);
    }
    try_for_a_moment(*time_, closing_, [&] {
      release_once(left, report);
      return left.each.empty();
    });
    if (left.each.empty()) return;
  } catch (...) {  // the result is `deferred`: the release is retried until the lease runs out
    events_.emit_fault(fault_operation::release, left.requests.front().key, left.each.size(),
                       std::current_exception(), time_->now() - began,
                       common_id(left.each.size(), left.each.front().lease->correlation_id));
  }
  std::vector<deferred_release> deferred;
  deferred.reserve(left.each.size());
  for (const auto& each : left.each) {
    emit_released(*each.lease, release_result::deferred, how.failed, began);
    deferred.emplace_back(*each.lease, time_->now(), how, began - each.lease->requested_at);
  }
  deferred_.add(std::move(deferred), deferred_releases::tried::just_now);
}

bool releaser::hand_off(const pending& all) {
  const auto& lease = *all.each.front().lease;
  return all.each.size() == 1 && lease.release_transaction == 0 &&
         loop_.handoff(all.requests.front(), lease.handoffs) == change_answer::done;
}

void releaser::pending::swap(std::size_t one, std::size_t other) const {
  std::swap(each[one], each[other]);
  std::swap(requests[one], requests[other]);
}

template <class Report>
void releaser::release_once(pending& left, const Report& report) {
  const auto answers = batcher_.release(left.requests);
  // What is not reported moves to the front: busy rows, then those to be read.
  std::size_t busy = 0;
  std::size_t unreported = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& lease = *left.each[i].lease;
    const bool is_busy = answers[i] == change_answer::busy;
    if (is_busy || (answers[i] == change_answer::lost && lease.release_transaction != 0)) {
      left.swap(i, unreported);
      if (is_busy) left.swap(unreported, busy++);
      ++unreported;
    } else {
      const bool is_released = answers[i] == change_answer::done;
      report(left.each[i], is_released ? release_result::released : release_result::lost);
    }
  }
  left = left.first(unreported);
  report_by_read(left.each.subspan(busy), report);
  left = left.first(busy);
}

template <class Report>
void releaser::report_by_read(std::span<const ended_lease> doubted, const Report& report) {
  if (doubted.empty()) return;
  std::vector<lock_key> keys;
  for (const auto& each : doubted) keys.push_back(each.lease->key);
  const auto seen = batcher_.target().read(keys);
  for (std::size_t i = 0; i < doubted.size(); ++i) {
    const bool is_unset = judge(seen[i], *doubted[i].lease) == row_verdict::unset_by_transaction;
    report(doubted[i], is_unset ? release_result::released : release_result::lost);
  }
}

void releaser::emit_released(const lease_state& ended, release_result result, bool failed,
                             boot_clock::time_point began) noexcept {
  events_.emit(&observer::released, [&] {
    return released_event{ended.key,
                          ended.token,
                          result,
                          failed,
                          to_microseconds(time_->now() - began),
                          to_microseconds(began - ended.requested_at),
                          ended.correlation_id};
  });
}

void releaser::emit_ended(const lease_state& ended, release_result result, bool failed,
                          boot_clock::time_point began) noexcept {
  if (result != release_result::lost) return emit_released(ended, result, failed, began);
  events_.emit(&observer::lost, [&] {
    return lost_event{ended.key, ended.token, loss_reason::taken_away,
                      to_microseconds(began - ended.requested_at), ended.correlation_id};
  });
}

}  // namespace rowlock::detail
