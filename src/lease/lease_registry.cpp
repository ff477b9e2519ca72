// Live leases, indexed by deadline, by time of renewal and by time of warning.
#include "lease/lease_registry.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::detail {

lease_registry::lease_registry(std::shared_ptr<time_source> time, std::chrono::milliseconds margin,
                               bool renew)
    : time_{std::move(time)}, margin_{margin}, renew_{renew} {}

boot_clock::time_point lease_registry::deadline(const lease_state& lease,
                                                boot_clock::time_point requested_at) const {
  return requested_at + lease.ttl.load() - margin_;
}

boot_clock::time_point lease_registry::next_renewal(const lease_state& lease,
                                                    boot_clock::time_point requested_at) const {
  return renew_ ? requested_at + lease.ttl.load() / 3 : never;
}

bool lease_registry::add(const std::shared_ptr<lease_state>& lease,
                         boot_clock::time_point requested_at) {
  const checked_lock lock{mutex_};
  const auto valid_until = deadline(*lease, requested_at);
  if (closed_ || time_->now() >= valid_until) return false;
  lease->valid_until = valid_until;
  lease->renew_at = next_renewal(*lease, requested_at);
  by_deadline_.emplace(std::pair{valid_until, lease.get()}, lease);
  by_renewal_.emplace(std::pair{lease->renew_at, lease.get()}, lease);
  wake_by(watcher_, valid_until);
  wake_by(renewer_, lease->renew_at);
  return true;
}

bool lease_registry::end(lease_state& lease, lease_phase why) {
  const checked_lock lock{mutex_};
  if (lease.phase != lease_phase::held) return false;
  lease.phase = why;
  remove(lease);
  return true;
}

boot_clock::time_point lease_registry::first_in(const auto& entries) {
  return entries.empty() ? never : entries.begin()->first.first;
}

template <class Entry, class Value>
void lease_registry::move(index<Entry, Value>& entries, const Entry& entry,
                          boot_clock::time_point from, boot_clock::time_point to) {
  auto moved = entries.extract({from, &entry});
  moved.key().first = to;
  entries.insert(std::move(moved));
}

void lease_registry::remove(const lease_state& lease) {
  by_deadline_.erase({lease.valid_until, &lease});
  by_renewal_.erase({lease.renew_at, &lease});
  for (const auto& warning : lease.risks) by_warning_.erase({warning->look_at, warning.get()});
  if (lease.is_being_renewed) renewal_ended_.notify_all();
}

void lease_registry::set_renewal(lease_state& lease, boot_clock::time_point when) {
  move(by_renewal_, lease, lease.renew_at, when);
  lease.renew_at = when;
}

lease_states lease_registry::end_all() {
  const checked_lock lock{mutex_};
  lease_states ended;
  ended.reserve(by_deadline_.size());
  for (const auto& [at, lease] : by_deadline_) {
    lease->phase = lease_phase::lost;
    ended.push_back(lease);
  }
  by_deadline_.clear();
  by_renewal_.clear();
  by_warning_.clear();
  renewal_ended_.notify_all();
  return ended;
}

void lease_registry::end_renewal(lease_state& lease) {
  if (std::exchange(lease.is_being_renewed, false)) renewal_ended_.notify_all();
}

bool lease_registry::begin_renewal(lease_state& lease) {
  checked_lock lock{mutex_};
  while (lease.phase == lease_phase::held && lease.is_being_renewed) {
    renewal_ended_.wait(lock.native());
  }
  if (lease.phase != lease_phase::held) return false;
  lease.is_being_renewed = true;
  set_renewal(lease, never);
  return true;
}

bool lease_registry::renewed(lease_state& lease, boot_clock::time_point requested_at,
                             std::chrono::microseconds ttl) {
  const checked_lock lock{mutex_};
  end_renewal(lease);
  const auto before = lease.valid_until.load();
  if (lease.phase != lease_phase::held || time_->now() >= before) return false;
  lease.ttl = ttl;
  lease.was_stuck = false;
  const auto valid_until = std::max(before, deadline(lease, requested_at));
  move(by_deadline_, lease, before, valid_until);
  lease.valid_until = valid_until;
  set_renewal(lease, next_renewal(lease, requested_at));
  wake_by(renewer_, lease.renew_at);
  if (lease.listens_to_asks) lease.is_ask_read_due = has_ask_reads_ = true;
  look_at_risks(lease);
  return true;
}

boot_clock::duration lease_registry::soon_again(const lease_state& lease) {
  constexpr std::chrono::seconds longest{1};
  return std::min<boot_clock::duration>(lease.ttl.load() / 10, longest);
}

void lease_registry::renew_soon_again(lease_state& lease) {
  renew_again_at(lease, time_->now() + soon_again(lease));
}

void lease_registry::renew_again_at(lease_state& lease, boot_clock::time_point when) {
  const checked_lock lock{mutex_};
  end_renewal(lease);
  if (lease.phase != lease_phase::held || !renew_) return;
  set_renewal(lease, when);
  wake_by(renewer_, when);
}

void lease_registry::look_at(risk& warning, boot_clock::time_point when) {
  move(by_warning_, warning, warning.look_at, when);
  warning.look_at = when;
  wake_by(watcher_, when);
}

void lease_registry::look_at_risks(const lease_state& lease) {
  for (const auto& warning : lease.risks) {
    look_at(*warning, warning->is_at_risk ? boot_clock::time_point::min()
                                          : lease.valid_until.load() - warning->before);
  }
}

void lease_registry::add_risk(lease_state& lease, const std::shared_ptr<risk>& added) {
  const checked_lock lock{mutex_};
  if (lease.phase != lease_phase::held) return;
  lease.risks.push_back(added);
  added->look_at = never;
  by_warning_.emplace(std::pair{never, added.get()}, risk_of{&lease, added});
  look_at(*added, lease.valid_until.load() - added->before);
}

void lease_registry::remove_risk(lease_state& lease,
                                 const std::shared_ptr<risk>& removed) noexcept {
  const checked_lock lock{mutex_};
  by_warning_.erase({removed->look_at, removed.get()});
  std::erase(lease.risks, removed);
}

void lease_registry::listen_to_asks(lease_state& lease) {
  const checked_lock lock{mutex_};
  if (lease.phase != lease_phase::held || lease.asked || lease.listens_to_asks) return;
  lease.listens_to_asks = lease.is_ask_read_due = has_ask_reads_ = true;
  wake_renewer_now();
}

void lease_registry::may_be_asked(const lock_key* key) {
  const checked_lock lock{mutex_};
  for (const auto& [at, lease] : by_deadline_) {
    if (!lease->listens_to_asks || (key != nullptr && lease->key != *key)) continue;
    lease->is_ask_read_due = has_ask_reads_ = true;
    wake_renewer_now();
  }
}

lease_states lease_registry::take_ask_reads() {
  const checked_lock lock{mutex_};
  lease_states due;
  if (!std::exchange(has_ask_reads_, false)) return due;
  for (const auto& [at, lease] : by_deadline_) {
    if (std::exchange(lease->is_ask_read_due, false)) due.push_back(lease);
  }
  return due;
}

bool lease_registry::asked(lease_state& lease, const ask_mark& how) {
  const checked_lock lock{mutex_};
  if (lease.phase != lease_phase::held || lease.asked) return false;
  lease.asked = how;
  lease.listens_to_asks = false;
  return true;
}

std::optional<ask_mark> lease_registry::asked(const lease_state& lease) {
  const checked_lock lock{mutex_};
  return lease.asked;
}

overdue lease_registry::take_overdue() {
  const auto now = time_->now();
  overdue due;
  while (first_in(by_warning_) <= now) {
    const auto [lease, warning] = by_warning_.begin()->second;
    const auto warn_at = lease->valid_until.load() - warning->before;
    const bool is_at_risk = warn_at <= now;
    if (std::exchange(warning->is_at_risk, is_at_risk) != is_at_risk) {
      due.warnings.emplace_back(warning, is_at_risk);
    }
    look_at(*warning, is_at_risk ? never : warn_at);
  }
  while (first_in(by_deadline_) <= now) {
    const auto lease = by_deadline_.begin()->second;
    lease->phase = lease_phase::lost;
    remove(*lease);
    (lease->was_stuck ? due.stuck : due.lost).push_back(lease);
  }
  return due;
}

lease_states lease_registry::take_due() {
  const auto now = time_->now();
  lease_states due;
  lease_states stuck;
  if (first_in(by_renewal_) > now) return due;
  const auto with_it = now + by_renewal_.begin()->second->ttl.load() / 5;
  while (first_in(by_renewal_) <= with_it) {
    const auto lease = by_renewal_.begin()->second;
    set_renewal(*lease, never);  // until the store has answered
    if (now >= lease->renew_until) continue;
    lease->was_stuck = lease->is_stuck(now);
    lease->is_being_renewed = !lease->was_stuck;
    (lease->was_stuck ? stuck : due).push_back(lease);
  }
  for (const auto& lease : stuck) set_renewal(*lease, now + soon_again(*lease));
  return due;
}

void lease_registry::wake_by(sleeper& sleeping, boot_clock::time_point when) {
  if (when >= sleeping.sleeps_until) return;
  sleeping.sleeps_until = when;
  sleeping.wakes_by = when;
  sleeping.wakeup.notify_one();
}

void lease_registry::sleep(checked_lock& lock, sleeper& sleeping, boot_clock::time_point until) {
  if (time_->now() >= sleeping.wakes_by) sleeping.wakes_by = never;
  until = std::min(until, sleeping.wakes_by);
  sleeping.sleeps_until = until;
  if (until == never) {
    sleeping.wakeup.wait(lock.native());
  } else {
    time_->wait_until(lock.native(), sleeping.wakeup, until);
  }
  sleeping.sleeps_until = boot_clock::time_point::min();
}

overdue lease_registry::wait_for_overdue() {
  checked_lock lock{mutex_};
  while (!closed_) {
    if (auto due = take_overdue(); !due.is_empty()) return due;
    sleep(lock, watcher_, std::min(first_in(by_deadline_), first_in(by_warning_)));
  }
  return {};
}

lease_states lease_registry::wait_for_due(boot_clock::time_point until) {
  checked_lock lock{mutex_};
  while (!closed_ && !std::exchange(wakes_renewer_, false)) {
    auto due = take_due();
    if (!due.empty() || time_->now() >= until) return due;
    sleep(lock, renewer_, std::min(until, first_in(by_renewal_)));
  }
  return {};
}

void lease_registry::wake_renewer_now() {
  wakes_renewer_ = true;
  renewer_.wakeup.notify_one();
}

void lease_registry::wake_renewer() {
  const checked_lock lock{mutex_};
  wake_renewer_now();
}

void lease_registry::close() {
  const checked_lock lock{mutex_};
  closed_ = true;
  watcher_.wakeup.notify_one();
  renewer_.wakeup.notify_one();
}

bool lease_registry::is_closed() {
  const checked_lock lock{mutex_};
  return closed_;
}

}  // namespace rowlock::detail
