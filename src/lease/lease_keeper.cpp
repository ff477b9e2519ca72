// The leases of a lock_table: grants in, releases out.
#include "lease/lease_keeper.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/pause.hpp"
#include "base/threads.hpp"
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

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds last_releases{2};

std::unique_ptr<grouping_store> grouped(store& rows, const group_options& options) {
  return options.at_most == 1 ? nullptr : std::make_unique<grouping_store>(rows, options);
}

}  // namespace

keeper::keeper(store& rows, lock_options options)
    : options_{std::move(options)},
      grouped_{grouped(rows, options_.grouping)},
      rows_{grouped_ != nullptr ? *grouped_ : rows},
      events_{options_.observer},
      book_{options_.time, options_.margin, options_.renew},
      waiting_{
          rows_,
          options_.time,
          {.keep = [this](const wanted_lease& wanted, const acquire_answer& granted,
                          boot_clock::time_point asked) { return keep(wanted, granted, asked); },
           .give_back =
               [this](const wanted_lease& unwanted, version granted) {
                 give_back({unwanted, granted, now()});
               },
           .give_back_if_granted =
               [this](const wanted_lease& unwanted, version handed_by) {
                 give_back_if_granted(unwanted, handed_by);
               }},
          outage_,
          events_},
      crew_{options_.blocking_threads, options_.time} {}

std::optional<keeper::visit> keeper::enter() {
  const std::scoped_lock lock{mutex_};
  if (closed_) return std::nullopt;
  ++visitors_;
  return visit{*this};
}

keeper::visit::~visit() {
  if (visited_ == nullptr || !visited_->home_.is_here()) return;
  const std::scoped_lock lock{visited_->mutex_};
  --visited_->visitors_;
  visited_->visitor_left_.notify_all();
}

void keeper::start_threads() {
  const std::scoped_lock lock{mutex_};
  start_thread("keep leases with", [this] {
    if (!messenger_) messenger_.emplace();
    if (!renewer_) {
      renewer_.emplace(rows_, book_, *messenger_, events_, options_.time,
                       [this](const lock_key& key) { waiting_.released(key); });
    }
    if (!renewer_thread_.joinable()) renewer_thread_ = std::thread{[this] { renewer_->run(); }};
    if (!watcher_thread_.joinable()) watcher_thread_ = std::thread{[this] { watch(); }};
  });
}

void keeper::watch() {
  for (auto overdue = book_.wait_for_overdue(); !overdue.empty();
       overdue = book_.wait_for_overdue()) {
    messenger_->tell(telling_lost(overdue));
    events_.tell_lost(overdue, loss_reason::ran_out, now());
  }
}

std::shared_ptr<kept_lease> keeper::keep(const wanted_lease& wanted, const acquire_answer& granted,
                                         boot_clock::time_point asked) {
  if (granted.took_over_expired) {
    events_.tell(&observer::expired_takeover, [&] {
      return expired_takeover_event{wanted.request.key, *granted.version, granted.holder,
                                    -granted.remaining.value_or(0us)};
    });
  }
  auto kept = std::make_shared<kept_lease>(wanted, *granted.version, asked);
  kept->hold_until = now() + wanted.hold_at_least;
  if (book_.add(kept, asked)) return kept;
  kept->hold_until = {};
  give_back(*kept);
  return nullptr;
}

void keeper::give_back(const kept_lease& unwanted) {
  renewer_->defer({{unwanted, now()}}, renewer::tried::never);
}

void keeper::give_back_if_granted(const wanted_lease& unwanted, version handed_by) {
  renewer_->defer({{unwanted, handed_by, now()}}, renewer::tried::never);
}

note_result keeper::write_note(const note_request& request) {
  const auto here = enter();
  if (!here) return note_result::lost;
  auto answer = note_answer::busy;
  const auto began = now();
  try {
    try_for_a_moment(*options_.time, closing(), [&] {
      answer = rows_.write_note(request);
      return answer != note_answer::busy;
    });
  } catch (...) {
    events_.tell_fault(fault_operation::note, request.key, 1, std::current_exception(),
                       now() - began);
    throw;
  }
  switch (answer) {
    case note_answer::written:
      return note_result::written;
    case note_answer::lost:
      return note_result::lost;
    case note_answer::busy:
      break;
  }
  return note_result::busy;
}

void keeper::end_leases() noexcept {
  const auto left = book_.end_all();
  std::vector<deferred_release> to_release;
  to_release.reserve(left.size());
  for (const auto& lease : left) to_release.emplace_back(*lease, now());
  messenger_->tell(telling_lost(left));
  events_.tell_lost(left, loss_reason::closed, now());
  renewer_->defer(std::move(to_release), renewer::tried::never);
}

// A store that hangs is waited for once: what has to be asked is asked at the same time, and
// nothing when that has taken too long.
void keeper::close() noexcept {
  if (!home_.is_here()) return;
  const auto end = boot_clock::now() + last_releases;
  closing_.request_stop();
  waiting_.stop();
  bool has_leases = false;
  {
    const std::scoped_lock lock{mutex_};
    closed_ = true;
    has_leases = renewer_thread_.joinable();
  }
  if (has_leases) {
    renewer_->close_by(end);
    end_leases();
  }
  {
    std::unique_lock lock{mutex_};
    visitor_left_.wait(lock, [this] { return visitors_ == 0; });
  }
  crew_.close();
  waiting_.close();
  if (!renewer_thread_.joinable()) return events_.close();
  renewer_->close_by(end);
  end_leases();  // what was granted meanwhile
  book_.close();
  if (watcher_thread_.joinable()) watcher_thread_.join();
  renewer_thread_.join();
  messenger_.reset();
  events_.close();
}

}  // namespace rowlock::detail
