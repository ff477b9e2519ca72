// The leases of a lock_table, from grant to release.
#include "lease/lease_keeper.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "base/pause.hpp"
#include "base/threads.hpp"
#include "lease/lease_state.hpp"
#include "lease/lease_times.hpp"
#include "lease/passed_lease.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"

namespace rowlock::detail {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds last_releases{2};

statement_batcher batcher_of(store& target, const batching_options& options) {
  return options.max_batch == 1 ? statement_batcher{target} : statement_batcher{target, options};
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
      loop_{queue_,
            batcher_,
            options_.time,
            outage_,
            [this](const lock_key& first, std::size_t keys, const std::exception_ptr& fault,
                   boot_clock::duration took) {
              events_.emit_fault(fault_operation::acquire, first, keys, fault, took);
            },
            {.asked = [this](const lock_key* key) { registry_.may_be_asked(key); },
             .changed = [this](const lock_key* key) { return watcher_.may_have_changed(key); }}},
      watcher_{target_, options_.time},
      deferred_{batcher_, registry_, events_, options_.time,
                [this](const lock_key& key) { queue_.released(key); }},
      releaser_{home_, gate_,     registry_, batcher_,      queue_,
                loop_, deferred_, events_,   options_.time, closing()},
      pool_{options_.blocking_threads, options_.time} {}

void lease_keeper::read_for_losses(const lease_states& doubted) noexcept {
  if (!home_.is_here()) return;
  if (const auto here = begin_operation()) renewer_->read_for_losses(doubted);
}

void lease_keeper::start_threads() {
  if (has_threads_.load(std::memory_order_acquire)) return;
  const checked_lock lock{starting_};
  start_thread("keep leases with", [this] {
    if (!loss_executor_) loss_executor_.emplace();
    if (!renewer_) {
      renewer_.emplace(target_, registry_, deferred_, *loss_executor_, events_, options_.time);
    }
    if (!renewer_thread_.joinable()) renewer_thread_ = std::thread{[this] { renewer_->run(); }};
    if (!watcher_thread_.joinable()) watcher_thread_ = std::thread{[this] { watch_deadlines(); }};
  });
  has_threads_.store(true, std::memory_order_release);
}

void lease_keeper::watch_deadlines() {
  for (auto due = registry_.wait_for_overdue(); !due.is_empty();
       due = registry_.wait_for_overdue()) {
    for (auto& [warning, is_at_risk] : due.warnings) {
      loss_executor_->post(
          [warning = std::move(warning), is = is_at_risk] { warning->told.call(is); });
    }
    lose(due.lost, loss_reason::ran_out);
    lose(due.stuck, loss_reason::no_progress);
  }
}

void lease_keeper::lose(const lease_states& lost, loss_reason why) {
  if (lost.empty()) return;
  loss_executor_->post(emitting_lost(lost));
  events_.emit_lost(lost, why, now());
}

std::shared_ptr<lease_state> lease_keeper::take_up(lease_request& wanted,
                                                   const acquire_answer& granted,
                                                   boot_clock::time_point requested_at) {
  if (granted.took_over_expired) {
    events_.emit(&observer::expired_takeover, [&] {
      return expired_takeover_event{wanted.request.key, *granted.version, granted.holder,
                                    -granted.remaining.value_or(0us),
                                    wanted.request.correlation_id};
    });
  }
  const auto hold_until = now() + wanted.hold_at_least;
  auto kept =
      std::make_shared<lease_state>(std::exchange(wanted, {}), *granted.version, requested_at);
  kept->hold_until = hold_until;
  if (registry_.add(kept, requested_at)) return kept;
  kept->give_up_hold();
  deferred_.add({*kept, now()}, deferred_releases::tried::never);
  wanted.request.key = kept->key;
  wanted.request.correlation_id = kept->correlation_id;
  return nullptr;
}

void lease_keeper::return_grant(const acquire_request& unwanted, version granted) {
  deferred_.add(deferred_release::of_unwanted(unwanted, granted, now()),
                deferred_releases::tried::never);
}

void lease_keeper::return_if_granted(const acquire_request& unwanted, version handed_by) {
  deferred_.add(deferred_release::of_doubt(unwanted, handed_by, now()),
                deferred_releases::tried::never);
}

extend_result lease_keeper::extend(const std::shared_ptr<lease_state>& extended,
                                   std::chrono::milliseconds ttl) {
  check_times(ttl, std::nullopt, options_);
  check_delay(ttl, std::chrono::ceil<std::chrono::milliseconds>(extended->lock_delay));
  home_.require();
  const auto here = begin_operation();
  if (!here) return extend_result::lost;
  auto answer = change_answer::busy;
  const auto began = now();
  extended->progress_at = began;
  try {
    try_for_a_moment(*options_.time, closing(), [&] {
      answer = renewer_->extend(extended, in_microseconds(ttl));
      return answer != change_answer::busy;
    });
  } catch (...) {
    events_.emit_fault(fault_operation::renew, extended->key, 1, std::current_exception(),
                       now() - began, extended->correlation_id);
    throw;
  }
  switch (answer) {
    case change_answer::done:
      return extend_result::extended;
    case change_answer::lost:
      return extend_result::lost;
    case change_answer::busy:
      break;
  }
  return extend_result::busy;
}

std::shared_ptr<risk> lease_keeper::watch_risk(lease_state& watched,
                                               std::chrono::milliseconds before,
                                               std::function<void(bool)> callback) {
  if (before <= std::chrono::milliseconds::zero() || before > longest_ttl) {
    throw error{errc::misuse,
                "the time between a warning and the deadline is not above zero and at most 24 "
                "hours: take the time that the work needs to stop"};
  }
  if (callback == nullptr) throw error{errc::misuse, "a warning has no callback: pass one"};
  home_.require();
  auto added = std::make_shared<risk>(in_microseconds(before), std::move(callback));
  registry_.add_risk(watched, added);
  return added;
}

void lease_keeper::end_watch(lease_state& watched, const std::shared_ptr<risk>& ended) noexcept {
  if (!home_.is_here()) return;
  registry_.remove_risk(watched, ended);
  ended->told.close();
}

void lease_keeper::listen() {
  try {
    loop_.listen();
  } catch (const error&) {  // what is not announced is found by reads
  }
}

std::stop_token lease_keeper::wanted(lease_state& held) {
  if (const auto here = home_.is_here() ? begin_operation() : std::nullopt) {
    registry_.listen_to_asks(held);
    listen();
  }
  return held.wanted.get_token();
}

std::shared_ptr<watched_entry> lease_keeper::watch(lock_key key, watch_callback callback) {
  auto added = watcher_.add(std::move(key), std::move(callback));
  listen();
  return added;
}

void lease_keeper::end_watch(const std::shared_ptr<watched_entry>& ended) noexcept {
  if (home_.is_here()) watcher_.remove(ended);
}

std::optional<ask_mark> lease_keeper::asked(const lease_state& held) {
  if (!home_.is_here()) return std::nullopt;
  return registry_.asked(held);
}

std::string lease_keeper::pass_on(lease_state& passed) {
  home_.require();
  if (passed.release_transaction != 0) {
    throw error{errc::misuse,
                "a transaction releases this lease, so it cannot be passed on: pass on a lease "
                "that no release_with was called for"};
  }
  auto text = to_text({passed.key, passed.owner, passed.token});
  const auto began = now();
  if (began >= passed.valid_until.load() || !registry_.end(passed, lease_phase::passed_on)) {
    throw lease_lost{
        "the lease is over (its deadline has come, or it was released, lost or passed on before), "
        "so there is nothing to pass on: acquire the key again"};
  }
  releaser_.passed_on(passed, began);
  return text;
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
    deferred_.add(std::move(to_release), deferred_releases::tried::never);
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
  gate_.close();
  deferred_.close_by(end);
  if (has_threads_) end_leases();
  gate_.await_last();
  pool_.close();
  loop_.close();
  watcher_.close();
  if (!renewer_thread_.joinable()) return events_.close();
  end_leases();  // granted meanwhile
  registry_.close();
  if (watcher_thread_.joinable()) watcher_thread_.join();
  renewer_thread_.join();
  loss_executor_.reset();
  events_.close();
}

}  // namespace rowlock::detail
