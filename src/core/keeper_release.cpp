// How a keeper ends leases that their holders give back.
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "core/keeper.hpp"
#include "core/row_verdict.hpp"
#include "core/short_patience.hpp"

namespace rowlock::detail {

namespace {

/// Leases that have ended, and what their rows are to be told.
struct ended_leases {
  struct one {
    kept_lease* lease;
    std::size_t place;
  };

  explicit ended_leases(std::size_t most) {
    each.reserve(most);
    requests.reserve(most);
  }

  void add(const one& ended, release_request request) {
    each.push_back(ended);
    requests.push_back(std::move(request));
  }
  [[nodiscard]] bool empty() const noexcept { return each.empty(); }

  std::vector<one> each;
  std::vector<release_request> requests;  // one for each
};

release_result result_of(release_answer answer) {
  if (answer == release_answer::released) return release_result::released;
  return answer == release_answer::busy ? release_result::deferred : release_result::lost;
}

/// Those whose rows are no longer theirs because a transaction has unset them, by their places.
/// Throws what the store throws. One round trip, where any may be.
std::vector<std::size_t> unset_by_transactions(const std::vector<release_answer>& answers,
                                               const ended_leases& asked, store& rows) {
  std::vector<std::size_t> places;
  std::vector<lock_key> keys;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& lease = *asked.each[i].lease;
    if (answers[i] != release_answer::lost || lease.ride == 0) continue;
    places.push_back(i);
    keys.push_back(lease.key);
  }
  if (keys.empty()) return places;
  const auto seen = rows.read(keys);
  auto row = seen.begin();
  std::erase_if(places, [&](std::size_t place) {
    return judge(*row++, *asked.each[place].lease) != row_verdict::unset_by_transaction;
  });
  return places;
}

}  // namespace

void keeper::released_by_commit(kept_lease& ended) noexcept {
  if (!home_.is_here() || !book_.end(ended, lease_phase::released)) return;
  ended.is_unset = true;
  tell_released(ended, release_result::released, false, now());
}

void keeper::release_later(kept_lease& ended) noexcept {
  if (!home_.is_here()) return;
  if (const auto here = enter()) release_later(ended, {}, *here);
}

void keeper::release_later(kept_lease& ended, const work_end& how, const visit& /*here*/) noexcept {
  if (!book_.end(ended, lease_phase::released)) return;
  tell_released(ended, release_result::deferred, how.failed, now());
  renewer_->defer({{ended, now(), how, now() - ended.asked_at}}, renewer::tried::never);
}

void keeper::look_for_losses(const kept_leases& doubted) noexcept {
  if (!home_.is_here()) return;
  const auto here = enter();
  if (!here) return;
  const auto began = now();
  try {
    renewer_->look_for_losses(doubted);
  } catch (...) {  // the next renewals find out
    events_.tell_fault(fault_operation::read, doubted.front()->key, doubted.size(),
                       std::current_exception(), now() - began);
  }
}

void keeper::tell_released(const kept_lease& ended, release_result result, bool failed,
                           boot_clock::time_point began) noexcept {
  events_.tell(&observer::released, [&] {
    return released_event{ended.key,
                          ended.token,
                          result,
                          failed,
                          as_told(now() - began),
                          as_told(began - ended.asked_at)};
  });
}

void keeper::tell_ended(const kept_lease& ended, release_result result, bool failed,
                        boot_clock::time_point began) noexcept {
  if (result == release_result::lost) return tell_taken_away(ended, began);
  tell_released(ended, result, failed, began);
}

void keeper::tell_taken_away(const kept_lease& ended, boot_clock::time_point began) noexcept {
  events_.tell(&observer::lost, [&] {
    return lost_event{ended.key, ended.token, loss_reason::taken_away,
                      as_told(began - ended.asked_at)};
  });
}

release_result keeper::release(kept_lease& ended, const work_end& how) noexcept {
  // The object of a lease that was given back asks once more, at its own end.
  if (ended.phase != lease_phase::held && !ended.is_unset) return release_result::lost;
  auto* const one = &ended;
  return release(std::span{&one, 1}, how).front();
}

std::vector<release_result> keeper::release(std::span<kept_lease* const> ended,
                                            const work_end& how) noexcept {
  std::vector<release_result> results(ended.size(), release_result::lost);
  if (!home_.is_here()) return results;
  ended_leases to_ask{ended.size()};
  // Only one that stands alone: those of a set are given back in one statement.
  const auto hand_over = [this](const ended_leases& all) {
    const auto& lease = *all.each.front().lease;
    return all.each.size() == 1 && lease.ride == 0 &&
           waiting_.hand_over(lease, all.requests.front()) == release_answer::released;
  };
  const auto here = enter();
  // A deadline that has come is a loss, even if the watcher has not got to it yet.
  const auto began = now();
  for (std::size_t place = 0; place < ended.size(); ++place) {
    auto& lease = *ended[place];
    if (lease.is_unset.exchange(false)) {
      results[place] = release_result::released;
    } else if (here && began < lease.valid_until.load() &&
               book_.end(lease, lease_phase::released)) {
      to_ask.add({&lease, place}, lease.to_release(began, how));
    }
  }
  if (to_ask.empty()) return results;
  try {
    if (hand_over(to_ask)) {
      const auto& [lease, place] = to_ask.each.front();
      results[place] = release_result::released;
      tell_released(*lease, release_result::released, how.failed, began);
      return results;
    }
    try_for_a_moment(*options_.time, closing(), [&] {
      const auto answers = rows_.release(to_ask.requests);
      const auto unset = unset_by_transactions(answers, to_ask, rows_);
      ended_leases busy{0};
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto& ended_one = to_ask.each[i];
        const auto& lease = *ended_one.lease;
        if (answers[i] == release_answer::released) waiting_.released(lease.key);
        const bool is_unset = std::find(unset.begin(), unset.end(), i) != unset.end();
        const auto result = is_unset ? release_result::released : result_of(answers[i]);
        results[ended_one.place] = result;
        if (result == release_result::deferred) {
          busy.add(ended_one, std::move(to_ask.requests[i]));
        } else {
          tell_ended(lease, result, how.failed, began);
        }
      }
      to_ask = std::move(busy);
      return to_ask.empty();
    });
  } catch (...) {  // the fault is in the result: it is tried again, or runs out
    events_.tell_fault(fault_operation::release, to_ask.requests.front().key, to_ask.each.size(),
                       std::current_exception(), now() - began);
  }
  std::vector<deferred_release> deferred;
  deferred.reserve(to_ask.each.size());
  for (const auto& each : to_ask.each) {
    results[each.place] = release_result::deferred;
    tell_released(*each.lease, release_result::deferred, how.failed, began);
    deferred.emplace_back(*each.lease, now(), how, began - each.lease->asked_at);
  }
  renewer_->defer(std::move(deferred), renewer::tried::just_now);
  return results;
}

}  // namespace rowlock::detail
