// An asynchronous attempt to acquire a key.
#include "lock/async_attempt.hpp"

#include <exception>
#include <utility>

#include "base/pause.hpp"
#include "batch/doubt.hpp"
#include "lease/lease_keeper.hpp"
#include "rowlock/async.hpp"

namespace rowlock::detail {

async_attempt::async_attempt(lease_keeper& leases, operation_gate::guard here, lease_request wanted,
                             retry_policy wait, completion done)
    : leases_{leases},
      here_{std::move(here)},
      stop_{wait.stop},
      can_wait_{is_patient(wait)},
      attempt_{leases, std::move(wanted), std::move(wait),
               acquire_attempt::readers::several_threads},
      done_{std::move(done)} {}

async_attempt::~async_attempt() {
  for (const auto& each : at_the_end_) leases_.worker_pool().cancel(each);
}

// If the last owner is already gone, the attempt is being destroyed, and nothing is left to end.
void async_attempt::closing::operator()() const {
  if (const auto self = attempt->weak_from_this().lock()) self->cancel();
}
void async_attempt::stopping::operator()() const {
  if (const auto self = attempt->weak_from_this().lock()) self->stop_waiting();
}

void async_attempt::start() {
  if (can_wait_ && attempt_.until() != boot_clock::time_point::max()) {
    post_at(attempt_.answer_until(), &async_attempt::give_up);
  }
  leases_.worker_pool().post(
      [self = shared_from_this()] { self->take([&] { return self->first_try(); }); });
  // An attempt that was stopped before its start still gets one try.
  if (!stop_.stop_requested()) on_stop_.emplace(stop_, stopping{this});
  on_close_.emplace(leases_.closing(), closing{this});
}

template <class Step>
void async_attempt::take(const Step& step) {
  std::optional<attempt_end> end;
  try {
    end = step();
  } catch (...) {
    end = attempt_end{.fault = std::current_exception()};
  }
  if (end) finish(*std::move(end));
}

std::optional<attempt_end> async_attempt::first_try() {
  {
    const checked_lock lock{mutex_};
    if (!done_) return std::nullopt;
    is_trying_ = true;
  }
  auto end = attempt_.first_try();
  return end ? end : enqueue();
}

std::optional<attempt_end> async_attempt::enqueue() {
  {
    const checked_lock lock{mutex_};
    if (!done_) return std::nullopt;
    attempt_.enqueue([self = shared_from_this()](attempt_end how) {
      self->leases_.worker_pool().post([self, how = std::move(how)] { self->finish(how); });
    });
    is_queued_ = true;
  }
  if (attempt_.until() != boot_clock::time_point::max()) {
    post_at(attempt_.until(), &async_attempt::time_over);
  }
  return std::nullopt;
}

void async_attempt::post_at(boot_clock::time_point when, void (async_attempt::*step)()) {
  at_the_end_.push_back(leases_.worker_pool().post_at(when, [waiting = weak_from_this(), step] {
    if (const auto self = waiting.lock()) ((*self).*step)();
  }));
}

void async_attempt::time_over() {
  take([this] { return attempt_.time_over(); });
}

void async_attempt::give_up() {
  const auto how = [this] {
    mutex_.assume_locked();
    return attempt_end{.fault = unanswered(is_trying_)};
  };
  if (end_before_queue(how)) return;
  take([this] { return attempt_.give_up(); });
}

async_attempt::completion async_attempt::end_it() {
  const checked_lock lock{mutex_};
  return std::exchange(done_, nullptr);
}

void async_attempt::finish(attempt_end end) {
  const auto done = end_it();
  if (done || !end.refused) attempt_.report(end);
  if (done) {
    done(std::move(end));
  } else if (end.granted) {
    end.granted->give_up_hold();
    leases_.releaser().release(*end.granted, {});
  }
}

template <class How>
bool async_attempt::end_before_queue(const How& how) {
  completion done;
  attempt_end end;
  {
    const checked_lock lock{mutex_};
    if (is_queued_) return false;
    done = std::exchange(done_, nullptr);
    if (!done) return true;
    end = how();
  }
  attempt_.report(end);
  done(std::move(end));
  return true;
}

attempt_end async_attempt::stopped() const {
  return {.refused = refusal{.reason = refusal_reason::stopped, .key = attempt_.key()}};
}

void async_attempt::cancel() {
  if (!leases_.home().is_here()) return;
  auto end = std::optional<attempt_end>{};
  const auto done = end_it();
  if (!done) return;
  {
    const checked_lock lock{mutex_};
    end = attempt_.stop();
  }
  if (!end) end = stopped();
  attempt_.report(*end);
  done(*std::move(end));
}

void async_attempt::stop_waiting() {
  if (!leases_.home().is_here() || end_before_queue([this] { return stopped(); })) return;
  std::optional<attempt_end> end;
  {
    const checked_lock lock{mutex_};
    end = attempt_.stop();
  }
  if (end) finish(*std::move(end));
}

}  // namespace rowlock::detail

namespace rowlock {

struct detail::async_access {
  static pending_acquire acquire(lock_table& locks, const lock_key& key,
                                 const acquire_options& options, bool unless_done,
                                 std::function<void(acquire_end)> done) {
    auto wanted = locks.wanted(key, options, unless_done);
    const auto leases = locks.keeper_;
    leases->home().require();
    auto here = leases->begin_operation();
    if (!here) {
      done({.answer = refusal{.reason = refusal_reason::stopped, .key = wanted.request.key}});
      return {};
    }
    const auto started = std::make_shared<async_attempt>(
        *leases, *std::move(here), std::move(wanted), options.wait,
        [leases, note = options.note, done = std::move(done)](attempt_end end) {
          done(concluded(leases, std::move(end), note));
        });
    started->start();
    return pending_acquire{started};
  }

  static acquire_end concluded(const std::shared_ptr<lease_keeper>& leases, attempt_end end,
                               const std::optional<std::string>& note) {
    try {
      return {.answer = lock_table::conclude(leases, std::move(end), note)};
    } catch (...) {
      return {.fault = std::current_exception()};
    }
  }

  static void check(const end_of_work& how) {
    if (how.done_for) lock_table::check_once({.type = "any", .source_id = "any"}, *how.done_for);
  }

  static void release(lease ended, const work_result& how,
                      std::function<void(release_result)> done) {
    const auto leases = std::exchange(ended.keeper_, nullptr);
    const auto kept = std::exchange(ended.kept_, nullptr);
    const bool is_ours = kept && leases->home().is_here();
    auto here = is_ours ? leases->begin_operation() : std::nullopt;
    if (!here) return done(release_result::lost);
    const auto operation_guard = std::make_shared<operation_gate::guard>(*std::move(here));
    const auto shared_done = std::make_shared<std::function<void(release_result)>>(std::move(done));
    try {
      leases->worker_pool().post([leases, kept, how, shared_done, operation_guard] {
        (*shared_done)(release(*leases, *kept, how, *operation_guard));
      });
    } catch (const error&) {  // no thread can be started: the renewer releases it
      leases->releaser().release_later(*kept, how, *operation_guard);
      (*shared_done)(release_result::deferred);
    }
  }

  /// While the table is being destroyed, the renewer sends the remaining releases together.
  static release_result release(lease_keeper& leases, lease_state& kept, const work_result& how,
                                const operation_gate::guard& here) {
    if (!leases.closing().stop_requested()) return leases.releaser().release(kept, how);
    leases.releaser().release_later(kept, how, here);
    return release_result::deferred;
  }

  static void cancel(const pending_acquire& pending) {
    if (const auto started = pending.started_.lock()) started->cancel();
  }
};

void pending_acquire::cancel() const { detail::async_access::cancel(*this); }

pending_acquire start_acquire(lock_table& locks, const lock_key& key,
                              const acquire_options& options,
                              std::function<void(acquire_end)> done) {
  return detail::async_access::acquire(locks, key, options, false, std::move(done));
}

pending_acquire start_acquire_once(lock_table& locks, const lock_key& key,
                                   const acquire_options& options,
                                   std::function<void(acquire_end)> done) {
  return detail::async_access::acquire(locks, key, options, true, std::move(done));
}

void check(const end_of_work& how) { detail::async_access::check(how); }

void start_release(lease ended, end_of_work how, std::function<void(release_result)> done) {
  check(how);
  detail::async_access::release(std::move(ended), {how.failed, how.done_for}, std::move(done));
}

}  // namespace rowlock
