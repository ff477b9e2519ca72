// The leases held now.
#include "core/lease_book.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::detail {

namespace {

constexpr auto never = boot_clock::time_point::max();

boot_clock::time_point early(const kept_lease& lease) {
  return lease.renew_at == never ? never : lease.renew_at - lease.ttl / 30;
}

}  // namespace

lease_book::lease_book(std::shared_ptr<time_source> time, std::chrono::milliseconds margin,
                       bool renew)
    : time_{std::move(time)}, margin_{margin}, renew_{renew} {}

boot_clock::time_point lease_book::deadline(const kept_lease& lease,
                                            boot_clock::time_point asked) const {
  return asked + lease.ttl - margin_;
}

boot_clock::time_point lease_book::next_renewal(const kept_lease& lease,
                                                boot_clock::time_point asked) const {
  return renew_ ? asked + lease.ttl / 3 : never;
}

bool lease_book::add(const std::shared_ptr<kept_lease>& lease, boot_clock::time_point asked) {
  const std::scoped_lock lock{mutex_};
  const auto valid_until = deadline(*lease, asked);
  if (closed_ || time_->now() >= valid_until) return false;
  lease->valid_until = valid_until;
  lease->renew_at = next_renewal(*lease, asked);
  lease->place = leases_.size();
  leases_.push_back(lease);
  if (valid_until < watcher_sleeps_until_) wake_watcher_.notify_one();
  if (early(*lease) < renewer_sleeps_until_) wake_renewer_.notify_one();
  return true;
}

bool lease_book::end(kept_lease& lease, lease_phase why) {
  const std::scoped_lock lock{mutex_};
  if (lease.phase != lease_phase::held) return false;
  lease.phase = why;
  remove(lease);
  return true;
}

void lease_book::remove(const kept_lease& lease) {
  const std::size_t place = lease.place;
  std::swap(leases_[place], leases_.back());
  leases_[place]->place = place;
  leases_.pop_back();
}

kept_leases lease_book::end_all() {
  const std::scoped_lock lock{mutex_};
  for (const auto& lease : leases_) lease->phase = lease_phase::lost;
  return std::exchange(leases_, {});
}

void lease_book::renewed(kept_lease& lease, boot_clock::time_point asked) {
  const std::scoped_lock lock{mutex_};
  if (lease.phase != lease_phase::held || time_->now() >= lease.valid_until.load()) return;
  lease.valid_until = std::max(lease.valid_until.load(), deadline(lease, asked));
  lease.renew_at = next_renewal(lease, asked);
}

void lease_book::renew_again_at(kept_lease& lease, boot_clock::time_point when) {
  const std::scoped_lock lock{mutex_};
  lease.renew_at = when;
}

kept_leases lease_book::wait_for_overdue() {
  std::unique_lock lock{mutex_};
  while (!closed_) {
    const auto now = time_->now();
    auto next = never;
    kept_leases overdue;
    for (const auto& lease : leases_) {
      if (lease->valid_until.load() <= now) {
        overdue.push_back(lease);
      } else {
        next = std::min(next, lease->valid_until.load());
      }
    }
    for (const auto& lease : overdue) {
      lease->phase = lease_phase::lost;
      remove(*lease);
    }
    if (!overdue.empty()) return overdue;

    watcher_sleeps_until_ = next;
    if (next == never) {
      wake_watcher_.wait(lock);
    } else {
      time_->wait_until(lock, wake_watcher_, next);
    }
    watcher_sleeps_until_ = boot_clock::time_point::min();
  }
  return {};
}

kept_leases lease_book::wait_for_due(boot_clock::time_point until) {
  std::unique_lock lock{mutex_};
  while (!closed_ && !std::exchange(renewer_is_called_, false)) {
    const auto now = time_->now();
    auto next = until;
    kept_leases due;
    for (const auto& lease : leases_) {
      if (early(*lease) <= now) {
        lease->renew_at = never;  // until the answer is there
        if (now < lease->renew_until) due.push_back(lease);
      } else {
        next = std::min(next, early(*lease));
      }
    }
    if (!due.empty() || now >= until) return due;

    renewer_sleeps_until_ = next;
    if (next == never) {
      wake_renewer_.wait(lock);
    } else {
      time_->wait_until(lock, wake_renewer_, next);
    }
    renewer_sleeps_until_ = boot_clock::time_point::min();
  }
  return {};
}

void lease_book::wake_renewer() {
  const std::scoped_lock lock{mutex_};
  renewer_is_called_ = true;
  wake_renewer_.notify_one();
}

void lease_book::close() {
  const std::scoped_lock lock{mutex_};
  closed_ = true;
  wake_watcher_.notify_one();
  wake_renewer_.notify_one();
}

bool lease_book::is_closed() {
  const std::scoped_lock lock{mutex_};
  return closed_;
}

}  // namespace rowlock::detail
