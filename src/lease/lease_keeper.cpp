// How a keeper ends leases that their holders give back.
#include "lease/lease_keeper.hpp"

#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/short_patience.hpp"
#include "lease/row_verdict.hpp"

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
  /// Of the first ones.
  [[nodiscard]] std::vector<lock_key> keys(std::size_t count) const {
    std::vector<lock_key> named;
    for (std::size_t i = 0; i < count; ++i) named.push_back(each[i].lease->key);
    return named;
  }

  std::vector<one> each;
  std::vector<release_request> requests;  // one for each
};

/// Of those whose rows are no longer theirs, although a transaction may have unset them. `settle`
/// is told of each whose result is known.
template <class Settle>
void settle_by_look(store& rows, std::span<const ended_leases::one> doubted,
                    const std::vector<lock_key>& keys, const Settle& settle) {
  if (doubted.empty()) return;
  const auto seen = rows.read(keys);
  for (std::size_t i = 0; i < doubted.size(); ++i) {
    const bool is_unset = judge(seen[i], *doubted[i].lease) == row_verdict::unset_by_transaction;
    settle(doubted[i], is_unset ? release_result::released : release_result::lost);
  }
}

/// One try. Left in `asked` are those whose rows are busy; where this throws, all that are not
/// settled.
template <class Settle>
void release_once(store& rows, ended_leases& asked, const Settle& settle) {
  const auto answers = rows.release(asked.requests);
  ended_leases left{0};
  ended_leases busy{0};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& one = asked.each[i];
    if (answers[i] == release_answer::busy) {
      busy.add(one, asked.requests[i]);
    } else if (answers[i] == release_answer::lost && one.lease->ride != 0) {
      left.add(one, std::move(asked.requests[i]));
    } else {
      const bool is_released = answers[i] == release_answer::released;
      settle(one, is_released ? release_result::released : release_result::lost);
    }
  }
  const auto doubted = left.each.size();
  for (std::size_t i = 0; i < busy.each.size(); ++i) left.add(busy.each[i], busy.requests[i]);
  asked = std::move(left);
  settle_by_look(rows, std::span{asked.each}.first(doubted), asked.keys(doubted), settle);
  asked = std::move(busy);
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
  const auto settle = [&](const ended_leases::one& one, release_result result) {
    results[one.place] = result;
    if (result == release_result::released) waiting_.released(one.lease->key);
    tell_ended(*one.lease, result, how.failed, began);
  };
  try {
    if (hand_over(to_ask)) {
      const auto& [lease, place] = to_ask.each.front();
      results[place] = release_result::released;
      tell_released(*lease, release_result::released, how.failed, began);
      return results;
    }
    try_for_a_moment(*options_.time, closing(), [&] {
      release_once(rows_, to_ask, settle);
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
