// Background renewals and deferred releases.
#include "lease/renewer.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <span>
#include <utility>

#include "batch/bisect.hpp"
#include "lease/lease_state.hpp"

namespace rowlock::detail {

namespace {

constexpr std::chrono::milliseconds row_was_busy{20};
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::seconds longest_pause{5};

}  // namespace

renewer::renewer(statement_batcher& batcher, lease_registry& registry, serial_executor& losses,
                 event_dispatcher& events, std::shared_ptr<time_source> time,
                 std::function<void(const lock_key&)> released)
    : batcher_{batcher},
      target_{batcher.target()},
      registry_{registry},
      losses_{losses},
      events_{events},
      time_{std::move(time)},
      released_{std::move(released)} {}

void renewer::run() {
  check_settings();
  while (!registry_.is_closed()) {
    const auto due = registry_.wait_for_due(next_release());
    if (!due.empty()) {
      renew(due);
      check_settings();
    }
    if (time_->now() >= next_release()) {
      release_deferred([this] { return registry_.is_closed() || is_over(); });
    }
  }
  while (!is_over() && !release_deferred([this] { return is_over(); })) {
    system_time()->sleep_until(boot_clock::now() + row_was_busy, {});
  }
}

void renewer::close_by(boot_clock::time_point end) {
  const checked_lock lock{mutex_};
  over_at_ = std::min(over_at_, end);
}

bool renewer::is_over() {
  const checked_lock lock{mutex_};
  return boot_clock::now() >= over_at_;
}

void renewer::check_settings() noexcept {
  if (knows_settings_ || !events_.has_observer()) return;
  try {
    for (auto& weak : target_.weak_settings()) {
      events_.emit(&observer::weak_setting, [&] { return weak_setting_event{std::move(weak)}; });
    }
    knows_settings_ = true;
  } catch (...) {  // retried after the next renewal; later failures are reported
  }
}

void renewer::renew(const lease_states& due) {
  const std::span all{due};
  const auto began = time_->now();
  bisect(
      {.count = due.size()}, [&](slice some) { renew_at_once(some.of(all)); },
      [&](slice some, const std::exception_ptr& fault) {
        const auto failed = some.of(all);
        const auto now = time_->now();
        events_.emit_fault(fault_operation::renew, failed.front()->key, failed.size(), fault,
                           now - began, common_id(failed.size(), failed.front()->correlation_id));
        // The database may be back before the deadline; if not, the watcher ends the leases. A
        // renewal that succeeded without an answer only prolongs a row.
        for (const auto& lease : failed) {
          registry_.renew_again_at(*lease, now + std::min<boot_clock::duration>(
                                                     lease->ttl / 10, std::chrono::seconds{1}));
        }
      },
      [this] { return registry_.is_closed(); });
}

void renewer::renew_at_once(std::span<const std::shared_ptr<lease_state>> wanted) {
  // Skip leases that ended meanwhile: renewing one would keep its key taken for a ttl without a
  // holder. A lease whose deadline has come is lost, even if the watcher has not ended it yet:
  // after a pause of the process this thread may be the first to run.
  const auto sent_at = time_->now();
  lease_states due;
  due.reserve(wanted.size());
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(due), [sent_at](const auto& lease) {
    return lease->phase == lease_phase::held && sent_at < lease->valid_until.load();
  });
  if (due.empty()) return;

  std::vector<renew_request> requests;
  requests.reserve(due.size());
  for (const auto& lease : due)
    requests.push_back({lease->key, lease->owner, lease->token, lease->stored_ttl()});

  std::vector<std::int64_t> by_transaction;
  by_transaction.reserve(due.size());
  for (const auto& lease : due) by_transaction.push_back(lease->release_transaction);

  lease_states lost;
  lease_states maybe_unset;
  lost.reserve(due.size());  // no allocation may fail after the renewal
  maybe_unset.reserve(due.size());
  const auto answers = target_.renew(requests);
  for (std::size_t i = 0; i < due.size(); ++i) {
    switch (answers[i]) {
      case change_answer::done:
        renewed(*due[i], sent_at);
        // The row was neither released nor locked, so the releasing transaction was rolled back.
        due[i]->release_transaction.compare_exchange_strong(by_transaction[i], 0);
        break;
      case change_answer::busy:
        registry_.renew_again_at(*due[i], time_->now() + row_was_busy);
        break;
      case change_answer::lost:
        (due[i]->release_transaction == 0 ? lost : maybe_unset).push_back(due[i]);
        break;
    }
  }
  end_lost(std::move(lost));
  if (maybe_unset.empty()) return;
  for (const auto& lease : maybe_unset) {
    registry_.renew_again_at(*lease, time_->now() + row_was_busy);
  }
  read_for_losses(maybe_unset);
}

void renewer::read_for_losses(const lease_states& doubted) {
  std::vector<lock_key> keys;
  keys.reserve(doubted.size());
  for (const auto& lease : doubted) keys.push_back(lease->key);
  lease_states lost;
  lost.reserve(doubted.size());
  const auto seen = target_.read(keys);
  for (std::size_t i = 0; i < doubted.size(); ++i) {
    switch (judge(seen[i], *doubted[i])) {
      case row_verdict::ours:
        break;
      case row_verdict::unset_by_transaction:
        unset_by_transaction(*doubted[i]);
        break;
      case row_verdict::lost:
        lost.push_back(doubted[i]);
        break;
    }
  }
  end_lost(std::move(lost));
}

void renewer::end_lost(lease_states gone) {
  std::erase_if(gone,
                [this](const auto& lease) { return !registry_.end(*lease, lease_phase::lost); });
  if (gone.empty()) return;
  losses_.post(emitting_lost(gone));
  events_.emit_lost(gone, loss_reason::taken_away, time_->now());
}

void renewer::renewed(lease_state& lease, boot_clock::time_point sent_at) {
  const auto now = time_->now();
  const auto left = lease.valid_until.load() - now;
  if (!registry_.renewed(lease, sent_at)) return;
  events_.emit(&observer::renewed, [&] {
    return renewed_event{lease.key,
                         lease.token,
                         to_microseconds(now - sent_at),
                         to_microseconds(left),
                         to_microseconds(lease.valid_until.load() - sent_at),
                         lease.correlation_id};
  });
}

void renewer::unset_by_transaction(lease_state& lease) {
  if (!registry_.end(lease, lease_phase::released)) return;
  lease.is_unset = true;
  events_.emit(&observer::released, [&] {
    return released_event{.key = lease.key,
                          .token = lease.token,
                          .held = to_microseconds(time_->now() - lease.requested_at),
                          .correlation_id = lease.correlation_id};
  });
}

void renewer::emit_released(const deferred_release& made, boot_clock::time_point sent_at) {
  if (!made.held) return;
  events_.emit(&observer::released, [&] {
    return released_event{made.request.key,
                          made.request.version,
                          release_result::released,
                          made.request.failed,
                          to_microseconds(time_->now() - sent_at),
                          to_microseconds(*made.held),
                          made.correlation_id};
  });
}

void renewer::defer(std::vector<deferred_release> releases, tried before) {
  if (releases.empty()) return;
  {
    const checked_lock lock{mutex_};
    std::move(releases.begin(), releases.end(), std::back_inserter(deferred_));
    pause_ = first_pause;
    next_release_ = time_->now();
    if (before == tried::just_now) next_release_ += pause_;
  }
  registry_.wake_renewer();
}

boot_clock::time_point renewer::next_release() {
  const checked_lock lock{mutex_};
  const bool is_idle = deferred_.empty() || boot_clock::now() >= over_at_;
  return is_idle ? boot_clock::time_point::max() : next_release_;
}

void renewer::release_at_once(std::span<deferred_release> made,
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

void renewer::resolve_doubts(std::vector<deferred_release>& releases,
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

bool renewer::release_deferred(const std::function<bool()>& give_up) {
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
  next_release_ = time_->now() + pause_;
  return deferred_.empty();
}

}  // namespace rowlock::detail
