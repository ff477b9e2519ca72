// Live leases, indexed by deadline and by time of renewal.
#include "lease/lease_registry.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::detail {

lease_registry::lease_registry(std::shared_ptr<time_source> time, std::chrono::milliseconds margin,
                               bool renew)
    : time_{std::move(time)}, margin_{margin}, renew_{renew} {}

boot_clock::time_point lease_registry::deadline(const lease_state& lease,
                                                boot_clock::time_point requested_at) const {
  return requested_at + lease.ttl - margin_;
}

boot_clock::time_point lease_registry::next_renewal(const lease_state& lease,
                                                    boot_clock::time_point requested_at) const {
  return renew_ ? requested_at + lease.ttl / 3 : never;
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

boot_clock::time_point lease_registry::first_in(const index& leases) {
  return leases.empty() ? never : leases.begin()->first.first;
}

void lease_registry::move(index& leases, const lease_state& lease, boot_clock::time_point from,
                          boot_clock::time_point to) {
  auto moved = leases.extract({from, &lease});
  moved.key().first = to;
  leases.insert(std::move(moved));
}

void lease_registry::remove(const lease_state& lease) {
  by_deadline_.erase({lease.valid_until, &lease});
  by_renewal_.erase({lease.renew_at, &lease});
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
  return ended;
}

bool lease_registry::renewed(lease_state& lease, boot_clock::time_point requested_at) {
  const checked_lock lock{mutex_};
  const auto before = lease.valid_until.load();
  if (lease.phase != lease_phase::held || time_->now() >= before) return false;
  const auto valid_until = std::max(before, deadline(lease, requested_at));
  move(by_deadline_, lease, before, valid_until);
  lease.valid_until = valid_until;
  set_renewal(lease, next_renewal(lease, requested_at));
  return true;
}

void lease_registry::renew_again_at(lease_state& lease, boot_clock::time_point when) {
  const checked_lock lock{mutex_};
  if (lease.phase == lease_phase::held) set_renewal(lease, when);
}

lease_states lease_registry::take_overdue() {
  const auto now = time_->now();
  lease_states overdue;
  while (first_in(by_deadline_) <= now) {
    const auto lease = by_deadline_.begin()->second;
    lease->phase = lease_phase::lost;
    remove(*lease);
    overdue.push_back(lease);
  }
  return overdue;
}

lease_states lease_registry::take_due() {
  const auto now = time_->now();
  lease_states due;
  if (first_in(by_renewal_) > now) return due;
  const auto with_it = now + by_renewal_.begin()->second->ttl / 5;
  while (first_in(by_renewal_) <= with_it) {
    const auto lease = by_renewal_.begin()->second;
    set_renewal(*lease, never);  // until the store has answered
    if (now < lease->renew_until) due.push_back(lease);
  }
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

lease_states lease_registry::wait_for_overdue() {
  checked_lock lock{mutex_};
  while (!closed_) {
    if (auto overdue = take_overdue(); !overdue.empty()) return overdue;
    sleep(lock, watcher_, first_in(by_deadline_));
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

void lease_registry::wake_renewer() {
  const checked_lock lock{mutex_};
  wakes_renewer_ = true;
  renewer_.wakeup.notify_one();
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
