// Background renewals.
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

}  // namespace

renewer::renewer(store& target, lease_registry& registry, deferred_releases& releases,
                 serial_executor& losses, event_dispatcher& events,
                 std::shared_ptr<time_source> time)
    : target_{target},
      registry_{registry},
      releases_{releases},
      losses_{losses},
      events_{events},
      time_{std::move(time)} {}

void renewer::run() {
  check_settings();
  while (!registry_.is_closed()) {
    const auto due = registry_.wait_for_due(releases_.next_at());
    if (!due.empty()) {
      renew(due);
      check_settings();
    }
    read_asks();
    if (time_->now() >= releases_.next_at()) {
      releases_.make([this] { return registry_.is_closed() || releases_.is_over(); });
    }
  }
  const auto is_over = [this] { return releases_.is_over(); };
  while (!is_over() && !releases_.make(is_over)) {
    system_time()->sleep_until(boot_clock::now() + row_was_busy, {});
  }
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
        for (const auto& lease : failed) registry_.renew_soon_again(*lease);
      },
      [this] { return registry_.is_closed(); });
}

bool renewer::is_held(const lease_state& lease, boot_clock::time_point now) {
  return lease.phase == lease_phase::held && now < lease.valid_until.load();
}

change_answer renewer::extend(const std::shared_ptr<lease_state>& lease,
                              std::chrono::microseconds ttl) {
  if (!registry_.begin_renewal(*lease)) return change_answer::lost;
  const auto sent_at = time_->now();
  try {
    if (is_held(*lease, sent_at)) return send({lease}, sent_at, ttl).front();
  } catch (...) {
    registry_.renew_soon_again(*lease);
    throw;
  }
  registry_.renew_soon_again(*lease);  // its deadline has come
  return change_answer::lost;
}

void renewer::renew_at_once(std::span<const std::shared_ptr<lease_state>> wanted) {
  // Skip leases that ended meanwhile: renewing one would keep its key taken for a ttl without a
  // holder. A lease whose deadline has come is lost, even if the watcher has not ended it yet:
  // after a pause of the process this thread may be the first to run.
  const auto sent_at = time_->now();
  lease_states due;
  due.reserve(wanted.size());
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(due),
               [sent_at](const auto& lease) { return is_held(*lease, sent_at); });
  if (!due.empty()) send(due, sent_at);
}

std::vector<change_answer> renewer::send(const lease_states& due, boot_clock::time_point sent_at,
                                         std::chrono::microseconds shortest_ttl) {
  const auto ttl_of = [&](const lease_state& lease) {
    return std::max(lease.ttl.load(), shortest_ttl);
  };
  std::vector<renew_request> requests;
  requests.reserve(due.size());
  for (const auto& lease : due) {
    requests.push_back(
        {lease->key, lease->owner, lease->token, ttl_of(*lease) + lease->lock_delay});
  }

  std::vector<std::int64_t> by_transaction;
  by_transaction.reserve(due.size());
  for (const auto& lease : due) by_transaction.push_back(lease->release_transaction);

  lease_states lost;
  lease_states maybe_unset;
  lost.reserve(due.size());  // no allocation may fail after the renewal
  maybe_unset.reserve(due.size());
  auto answers = target_.renew(requests);
  for (std::size_t i = 0; i < due.size(); ++i) {
    switch (answers[i]) {
      case change_answer::done:
        renewed(*due[i], sent_at, ttl_of(*due[i]));
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
  for (const auto& lease : maybe_unset) {
    registry_.renew_again_at(*lease, time_->now() + row_was_busy);
  }
  if (!maybe_unset.empty()) read_for_losses(maybe_unset);
  return answers;
}

template <class Work>
void renewer::read(const lease_states& leases, const Work& work) noexcept {
  const auto began = time_->now();
  try {
    std::vector<lock_key> keys;
    keys.reserve(leases.size());
    for (const auto& lease : leases) keys.push_back(lease->key);
    work(target_.read(keys));
  } catch (...) {
    events_.emit_fault(fault_operation::read, leases.front()->key, leases.size(),
                       std::current_exception(), time_->now() - began,
                       common_id(leases.size(), leases.front()->correlation_id));
  }
}

void renewer::read_asks() {
  const auto listening = registry_.take_ask_reads();
  if (listening.empty()) return;
  read(listening, [&](const std::vector<std::optional<row_state>>& seen) {
    for (std::size_t i = 0; i < listening.size(); ++i) {
      const auto& lease = listening[i];
      if (!seen[i] || seen[i]->version != lease->token || !seen[i]->asked) continue;
      if (!registry_.asked(*lease, *seen[i]->asked)) continue;
      losses_.post([lease] { lease->wanted.request_stop(); });
    }
  });
}

void renewer::read_for_losses(const lease_states& doubted) noexcept {
  read(doubted,
       [&](const std::vector<std::optional<row_state>>& seen) { end_as_read(doubted, seen); });
}

void renewer::end_as_read(const lease_states& doubted,
                          std::span<const std::optional<row_state>> seen) {
  lease_states lost;
  lost.reserve(doubted.size());
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

void renewer::renewed(lease_state& lease, boot_clock::time_point sent_at,
                      std::chrono::microseconds ttl) {
  const auto now = time_->now();
  const auto left = lease.valid_until.load() - now;
  if (!registry_.renewed(lease, sent_at, ttl)) return;
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
                          .held_for = to_microseconds(time_->now() - lease.requested_at),
                          .correlation_id = lease.correlation_id};
  });
}

}  // namespace rowlock::detail
