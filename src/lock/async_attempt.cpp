// An attempt for callers that do not block.
#include "lock/async_attempt.hpp"

#include <exception>
#include <utility>

#include "base/pause.hpp"
#include "lease/lease_keeper.hpp"
#include "rowlock/async.hpp"

namespace rowlock::detail {

continued_acquisition::continued_acquisition(keeper& leases, keeper::visit here,
                                             wanted_lease wanted, retry_policy wait, ending told)
    : leases_{leases},
      here_{std::move(here)},
      stop_{wait.stop},
      can_wait_{is_patient(wait)},
      attempt_{leases, std::move(wanted), std::move(wait)},
      told_{std::move(told)} {}

continued_acquisition::~continued_acquisition() {
  for (const auto& each : at_the_end_) leases_.crew().forget(each);
}

// Whoever is called when the last owner is gone already leaves it to the destructor.
void continued_acquisition::closing::operator()() const {
  if (const auto self = attempt->weak_from_this().lock()) self->cancel();
}
void continued_acquisition::stopping::operator()() const {
  if (const auto self = attempt->weak_from_this().lock()) self->stop_waiting();
}

void continued_acquisition::start() {
  if (can_wait_ && attempt_.until() != boot_clock::time_point::max()) {
    run_at(attempt_.answer_until(), &continued_acquisition::give_up);
  }
  leases_.crew().run(
      [self = shared_from_this()] { self->take([&] { return self->ask_first(); }); });
  // One that was stopped before has one try all the same.
  if (!stop_.stop_requested()) on_stop_.emplace(stop_, stopping{this});
  on_close_.emplace(leases_.closing(), closing{this});
}

template <class Step>
void continued_acquisition::take(const Step& step) {
  std::optional<wait_end> end;
  try {
    end = step();
  } catch (...) {
    end = wait_end{.fault = std::current_exception()};
  }
  if (end) finish(*std::move(end));
}

std::optional<wait_end> continued_acquisition::ask_first() {
  {
    const std::scoped_lock lock{mutex_};
    if (!told_) return std::nullopt;
    is_asking_ = true;
  }
  auto end = attempt_.ask_first(here_.rows());
  return end ? end : wait_in_line();
}

std::optional<wait_end> continued_acquisition::wait_in_line() {
  {
    const std::scoped_lock lock{mutex_};
    if (!told_) return std::nullopt;
    attempt_.wait_in_line([self = shared_from_this()](wait_end how) {
      self->leases_.crew().run([self, how = std::move(how)] { self->finish(how); });
    });
    is_in_line_ = true;
  }
  if (attempt_.until() != boot_clock::time_point::max()) {
    run_at(attempt_.until(), &continued_acquisition::time_over);
  }
  return std::nullopt;
}

void continued_acquisition::run_at(boot_clock::time_point when,
                                   void (continued_acquisition::*step)()) {
  at_the_end_.push_back(leases_.crew().run_at(when, [waiting = weak_from_this(), step] {
    if (const auto self = waiting.lock()) ((*self).*step)();
  }));
}

void continued_acquisition::time_over() {
  take([this] { return attempt_.time_over(); });
}

void continued_acquisition::give_up() {
  const auto how = [this] {
    return unanswered(is_asking_ ? errc::outcome_unknown : errc::unavailable);
  };
  if (end_before_line(how)) return;
  take([this] { return attempt_.give_up(); });
}

continued_acquisition::ending continued_acquisition::end_it() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(told_, nullptr);
}

void continued_acquisition::finish(wait_end end) {
  const auto told = end_it();
  if (told || !end.refused) attempt_.tell(end);
  if (told) {
    told(std::move(end));
  } else if (end.granted) {
    end.granted->hold_until = {};  // nobody has seen the grant
    leases_.release(*end.granted, {});
  }
}

template <class How>
bool continued_acquisition::end_before_line(const How& how) {
  ending told;
  wait_end end;
  {
    const std::scoped_lock lock{mutex_};
    if (is_in_line_) return false;
    told = std::exchange(told_, nullptr);
    if (!told) return true;
    end = how();
  }
  attempt_.tell(end);
  told(std::move(end));
  return true;
}

wait_end continued_acquisition::stopped() const {
  return {.refused = refusal{.reason = refusal_reason::stopped, .key = attempt_.key()}};
}

void continued_acquisition::cancel() {
  if (!leases_.home().is_here()) return;
  auto end = std::optional<wait_end>{};
  const auto told = end_it();
  if (!told) return;
  {
    const std::scoped_lock lock{mutex_};
    end = attempt_.stop();
  }
  if (!end) end = stopped();
  attempt_.tell(*end);
  told(*std::move(end));
}

void continued_acquisition::stop_waiting() {
  if (!leases_.home().is_here() || end_before_line([this] { return stopped(); })) return;
  std::optional<wait_end> end;
  {
    const std::scoped_lock lock{mutex_};
    end = attempt_.stop();
  }
  if (end) finish(*std::move(end));
}

}  // namespace rowlock::detail

namespace rowlock {

struct detail::continuation {
  static pending_acquire acquire(lock_table& locks, const lock_key& key,
                                 const acquire_options& options, bool unless_done,
                                 std::function<void(acquire_end)> told) {
    auto wanted = locks.wanted(key, options, unless_done);
    const auto leases = locks.keeper_;
    leases->home().require();
    auto here = leases->enter();
    if (!here) {
      told({.answer = refusal{.reason = refusal_reason::stopped, .key = wanted.request.key}});
      return {};
    }
    const auto started = std::make_shared<continued_acquisition>(
        *leases, *std::move(here), std::move(wanted), options.wait,
        [leases, note = options.note, told = std::move(told)](wait_end end) {
          told(concluded(leases, std::move(end), note));
        });
    started->start();
    return pending_acquire{started};
  }

  static acquire_end concluded(const std::shared_ptr<keeper>& leases, wait_end end,
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

  static void release(lease ended, const work_end& how, std::function<void(release_result)> told) {
    const auto leases = std::exchange(ended.keeper_, nullptr);
    const auto kept = std::exchange(ended.kept_, nullptr);
    const bool is_ours = kept && leases->home().is_here();
    auto here = is_ours ? leases->enter() : std::nullopt;
    if (!here) return told(release_result::lost);
    const auto visit = std::make_shared<keeper::visit>(*std::move(here));
    const auto tell = std::make_shared<std::function<void(release_result)>>(std::move(told));
    try {
      leases->crew().run(
          [leases, kept, how, tell, visit] { (*tell)(release(*leases, *kept, how, *visit)); });
    } catch (const error&) {  // no thread can be started: the renewer has one
      leases->release_later(*kept, how, *visit);
      (*tell)(release_result::deferred);
    }
  }

  /// Those that are left when the table is being destroyed are not asked for one by one.
  static release_result release(keeper& leases, kept_lease& kept, const work_end& how,
                                const keeper::visit& here) {
    if (!leases.closing().stop_requested()) return leases.release(kept, how);
    leases.release_later(kept, how, here);
    return release_result::deferred;
  }

  static void cancel(const pending_acquire& pending) {
    if (const auto started = pending.started_.lock()) started->cancel();
  }
};

void pending_acquire::cancel() const { detail::continuation::cancel(*this); }

pending_acquire start_acquire(lock_table& locks, const lock_key& key,
                              const acquire_options& options,
                              std::function<void(acquire_end)> told) {
  return detail::continuation::acquire(locks, key, options, false, std::move(told));
}

pending_acquire start_acquire_once(lock_table& locks, const lock_key& key,
                                   const acquire_options& options,
                                   std::function<void(acquire_end)> told) {
  return detail::continuation::acquire(locks, key, options, true, std::move(told));
}

void check(const end_of_work& how) { detail::continuation::check(how); }

void start_release(lease ended, end_of_work how, std::function<void(release_result)> told) {
  check(how);
  detail::continuation::release(std::move(ended), {how.failed, how.done_for}, std::move(told));
}

}  // namespace rowlock
