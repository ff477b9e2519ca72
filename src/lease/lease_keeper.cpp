// The leases of a lock_table, from grant to release.
#include "lease/lease_keeper.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/pause.hpp"
#include "base/threads.hpp"
#include "lease/lease_state.hpp"

namespace rowlock::detail {

namespace {

/// Leases that have ended, with the release requests for their rows.
struct ended_leases {
  struct one {
    lease_state* lease;
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
  /// The keys of the first `count`.
  [[nodiscard]] std::vector<lock_key> keys(std::size_t count) const {
    std::vector<lock_key> named;
    for (std::size_t i = 0; i < count; ++i) named.push_back(each[i].lease->key);
    return named;
  }

  std::vector<one> each;
  std::vector<release_request> requests;  // one for each
};

/// Reads rows that no longer belong to their leases, to see whether a transaction released them.
/// Calls `report` with each result.
template <class Report>
void report_by_read(store& target, std::span<const ended_leases::one> doubted,
                    const std::vector<lock_key>& keys, const Report& report) {
  if (doubted.empty()) return;
  const auto seen = target.read(keys);
  for (std::size_t i = 0; i < doubted.size(); ++i) {
    const bool is_unset = judge(seen[i], *doubted[i].lease) == row_verdict::unset_by_transaction;
    report(doubted[i], is_unset ? release_result::released : release_result::lost);
  }
}

/// One try. Leases with busy rows stay in `pending`; after an exception, so do all leases that are
/// not reported yet.
template <class Report>
void release_once(statement_batcher& batcher, ended_leases& pending, const Report& report) {
  const auto answers = batcher.release(pending.requests);
  ended_leases left{0};
  ended_leases busy{0};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& one = pending.each[i];
    if (answers[i] == change_answer::busy) {
      busy.add(one, pending.requests[i]);
    } else if (answers[i] == change_answer::lost && one.lease->release_transaction != 0) {
      left.add(one, std::move(pending.requests[i]));
    } else {
      const bool is_released = answers[i] == change_answer::done;
      report(one, is_released ? release_result::released : release_result::lost);
    }
  }
  const auto doubted = left.each.size();
  for (std::size_t i = 0; i < busy.each.size(); ++i) left.add(busy.each[i], busy.requests[i]);
  pending = std::move(left);
  report_by_read(batcher.target(), std::span{pending.each}.first(doubted), pending.keys(doubted),
                 report);
  pending = std::move(busy);
}

}  // namespace

void lease_keeper::released_by_commit(lease_state& ended) noexcept {
  if (!home_.is_here() || !registry_.end(ended, lease_phase::released)) return;
  ended.is_unset = true;
  emit_released(ended, release_result::released, false, now());
}

void lease_keeper::release_later(lease_state& ended) noexcept {
  if (!home_.is_here()) return;
  if (const auto here = begin_operation()) release_later(ended, {}, *here);
}

void lease_keeper::release_later(lease_state& ended, const work_result& how,
                                 const operation_guard& /*here*/) noexcept {
  if (!registry_.end(ended, lease_phase::released)) return;
  emit_released(ended, release_result::deferred, how.failed, now());
  try {
    renewer_->defer({{ended, now(), how, now() - ended.requested_at}}, renewer::tried::never);
  } catch (const std::bad_alloc&) {  // the row is free when the lease runs out
  }
}

void lease_keeper::read_for_losses(const lease_states& doubted) noexcept {
  if (!home_.is_here()) return;
  const auto here = begin_operation();
  if (!here) return;
  const auto began = now();
  try {
    renewer_->read_for_losses(doubted);
  } catch (...) {  // the next renewals find the losses
    events_.emit_fault(fault_operation::read, doubted.front()->key, doubted.size(),
                       std::current_exception(), now() - began,
                       common_id(doubted.size(), doubted.front()->correlation_id));
  }
}

void lease_keeper::emit_released(const lease_state& ended, release_result result, bool failed,
                                 boot_clock::time_point began) noexcept {
  events_.emit(&observer::released, [&] {
    return released_event{ended.key,
                          ended.token,
                          result,
                          failed,
                          to_microseconds(now() - began),
                          to_microseconds(began - ended.requested_at),
                          ended.correlation_id};
  });
}

void lease_keeper::emit_ended(const lease_state& ended, release_result result, bool failed,
                              boot_clock::time_point began) noexcept {
  if (result == release_result::lost) return emit_force_released(ended, began);
  emit_released(ended, result, failed, began);
}

void lease_keeper::emit_force_released(const lease_state& ended,
                                       boot_clock::time_point began) noexcept {
  events_.emit(&observer::lost, [&] {
    return lost_event{ended.key, ended.token, loss_reason::taken_away,
                      to_microseconds(began - ended.requested_at), ended.correlation_id};
  });
}

release_result lease_keeper::release(lease_state& ended, const work_result& how) noexcept {
  // The destructor of a lease that was already released gets here, too.
  if (ended.phase != lease_phase::held && !ended.is_unset) return release_result::lost;
  auto* const one = &ended;
  auto result = release_result::lost;
  release(std::span{&one, 1}, std::span{&result, 1}, how);
  return result;
}

void lease_keeper::release(std::span<lease_state* const> ended, std::span<release_result> results,
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

void lease_keeper::release_now(std::span<lease_state* const> ended,
                               std::span<release_result> results, const work_result& how) {
  ended_leases pending{ended.size()};
  // Only a single lease is handed off: the leases of a set are released in one statement.
  const auto handoff = [this](const ended_leases& all) {
    const auto& lease = *all.each.front().lease;
    return all.each.size() == 1 && lease.release_transaction == 0 &&
           loop_.handoff(all.requests.front(), lease.handoffs) == change_answer::done;
  };
  const auto here = begin_operation();
  // An expired lease is lost, even if the watcher has not ended it yet.
  const auto began = now();
  for (std::size_t place = 0; place < ended.size(); ++place) {
    auto& lease = *ended[place];
    if (lease.is_unset.exchange(false)) {
      results[place] = release_result::released;
    } else if (here && began < lease.valid_until.load() &&
               registry_.end(lease, lease_phase::released)) {
      results[place] = release_result::deferred;
      pending.add({&lease, place}, lease.to_release(began, how));
    }
  }
  if (pending.empty()) return;
  const auto report = [&](const ended_leases::one& one, release_result result) {
    results[one.place] = result;
    if (result == release_result::released) queue_.released(one.lease->key);
    emit_ended(*one.lease, result, how.failed, began);
  };
  try {
    if (handoff(pending)) {
      const auto& [lease, place] = pending.each.front();
      results[place] = release_result::released;
      emit_released(*lease, release_result::released, how.failed, began);
      return;
    }
    try_for_a_moment(*options_.time, closing(), [&] {
      release_once(batcher_, pending, report);
      return pending.empty();
    });
  } catch (...) {  // the result is `deferred`: the release is retried until the lease runs out
    events_.emit_fault(fault_operation::release, pending.requests.front().key, pending.each.size(),
                       std::current_exception(), now() - began,
                       common_id(pending.each.size(), pending.each.front().lease->correlation_id));
  }
  std::vector<deferred_release> deferred;
  deferred.reserve(pending.each.size());
  for (const auto& each : pending.each) {
    emit_released(*each.lease, release_result::deferred, how.failed, began);
    deferred.emplace_back(*each.lease, now(), how, began - each.lease->requested_at);
  }
  renewer_->defer(std::move(deferred), renewer::tried::just_now);
}

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds last_releases{2};

statement_batcher batcher_of(store& target, const batching_options& options) {
  return options.at_most == 1 ? statement_batcher{target} : statement_batcher{target, options};
}

}  // namespace

lease_keeper::lease_keeper(store& target, lock_options options)
    : options_{std::move(options)},
      batcher_{batcher_of(target, options_.batching)},
      target_{target},
      events_{options_.observer},
      registry_{options_.time, options_.margin, options_.renew},
      queue_{options_.time,
             {.return_grant = [this](const acquire_request& unwanted,
                                     version granted) { return_grant(unwanted, granted); },
              .return_if_granted =
                  [this](const acquire_request& unwanted, version handed_by) {
                    return_if_granted(unwanted, handed_by);
                  }},
             outage_},
      loop_{queue_, batcher_, options_.time, outage_,
            [this](const lock_key& first, std::size_t keys, const std::exception_ptr& fault,
                   boot_clock::duration took) {
              events_.emit_fault(fault_operation::acquire, first, keys, fault, took);
            }},
      pool_{options_.blocking_threads, options_.time} {}

std::optional<lease_keeper::operation_guard> lease_keeper::begin_operation() {
  const checked_lock lock{mutex_};
  if (closed_) return std::nullopt;
  ++operations_;
  return operation_guard{*this};
}

lease_keeper::operation_guard::~operation_guard() {
  if (keeper_ == nullptr || !keeper_->home_.is_here()) return;
  const checked_lock lock{keeper_->mutex_};
  --keeper_->operations_;
  keeper_->operation_ended_.notify_all();
}

void lease_keeper::start_threads() {
  if (has_threads_.load(std::memory_order_acquire)) return;
  const checked_lock lock{mutex_};
  start_thread("keep leases with", [this] {
    if (!loss_executor_) loss_executor_.emplace();
    if (!renewer_) {
      renewer_.emplace(batcher_, registry_, *loss_executor_, events_, options_.time,
                       [this](const lock_key& key) { queue_.released(key); });
    }
    if (!renewer_thread_.joinable()) renewer_thread_ = std::thread{[this] { renewer_->run(); }};
    if (!watcher_thread_.joinable()) watcher_thread_ = std::thread{[this] { watch(); }};
  });
  has_threads_.store(true, std::memory_order_release);
}

void lease_keeper::watch() {
  for (auto overdue = registry_.wait_for_overdue(); !overdue.empty();
       overdue = registry_.wait_for_overdue()) {
    loss_executor_->post(emitting_lost(overdue));
    events_.emit_lost(overdue, loss_reason::ran_out, now());
  }
}

std::shared_ptr<lease_state> lease_keeper::take_up(const lease_request& wanted,
                                                   const acquire_answer& granted,
                                                   boot_clock::time_point requested_at) {
  if (granted.took_over_expired) {
    events_.emit(&observer::expired_takeover, [&] {
      return expired_takeover_event{wanted.request.key, *granted.version, granted.holder,
                                    -granted.remaining.value_or(0us),
                                    wanted.request.correlation_id};
    });
  }
  auto kept = std::make_shared<lease_state>(wanted, *granted.version, requested_at);
  kept->hold_until = now() + wanted.hold_at_least;
  if (registry_.add(kept, requested_at)) return kept;
  return_grant(wanted.request, kept->token);
  return nullptr;
}

void lease_keeper::return_grant(const acquire_request& unwanted, version granted) {
  renewer_->defer({deferred_release::of_unwanted(unwanted, granted, now())}, renewer::tried::never);
}

void lease_keeper::return_if_granted(const acquire_request& unwanted, version handed_by) {
  renewer_->defer({deferred_release::of_doubt(unwanted, handed_by, now())}, renewer::tried::never);
}

note_result lease_keeper::write_note(const lease_state& noted, const std::string& note) {
  const auto here = begin_operation();
  if (!here) return note_result::lost;
  const note_request request{noted.key, noted.owner, noted.token, note};
  auto answer = change_answer::busy;
  const auto began = now();
  try {
    try_for_a_moment(*options_.time, closing(), [&] {
      answer = target_.write_note(request);
      return answer != change_answer::busy;
    });
  } catch (...) {
    events_.emit_fault(fault_operation::note, noted.key, 1, std::current_exception(), now() - began,
                       noted.correlation_id);
    throw;
  }
  switch (answer) {
    case change_answer::done:
      return note_result::written;
    case change_answer::lost:
      return note_result::lost;
    case change_answer::busy:
      break;
  }
  return note_result::busy;
}

void lease_keeper::end_leases() noexcept {
  try {
    const auto left = registry_.end_all();
    loss_executor_->post(emitting_lost(left));
    events_.emit_lost(left, loss_reason::closed, now());
    std::vector<deferred_release> to_release;
    to_release.reserve(left.size());
    for (const auto& lease : left) to_release.emplace_back(*lease, now());
    renewer_->defer(std::move(to_release), renewer::tried::never);
  } catch (const std::bad_alloc&) {  // the rows are free when the leases run out
  }
}

// A store that hangs costs a single wait: the last releases run while operations end, and none
// begins later than `last_releases`.
void lease_keeper::close() noexcept {
  if (!home_.is_here()) return;
  const auto end = boot_clock::now() + last_releases;
  closing_.request_stop();
  queue_.stop();
  bool has_leases = false;
  {
    const checked_lock lock{mutex_};
    closed_ = true;
    has_leases = renewer_thread_.joinable();
  }
  if (has_leases) {
    renewer_->close_by(end);
    end_leases();
  }
  {
    checked_lock lock{mutex_};
    while (operations_ > 0) operation_ended_.wait(lock.native());
  }
  pool_.close();
  loop_.close();
  if (!renewer_thread_.joinable()) return events_.close();
  renewer_->close_by(end);
  end_leases();  // granted meanwhile
  registry_.close();
  if (watcher_thread_.joinable()) watcher_thread_.join();
  renewer_thread_.join();
  loss_executor_.reset();
  events_.close();
}

}  // namespace rowlock::detail
