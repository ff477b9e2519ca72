// Leases for those who do not block.
#include "rowlock/continuation.hpp"

#include <utility>

#include "lease/lease_keeper.hpp"
#include "lock/async_attempt.hpp"

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
