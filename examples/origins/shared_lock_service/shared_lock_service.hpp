// A generic table of locks: find or insert a row, set it, run a callback, unset it.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SHARED_LOCK_SERVICE_SHARED_LOCK_SERVICE_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SHARED_LOCK_SERVICE_SHARED_LOCK_SERVICE_HPP

#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "origins/support/log.hpp"
#include "rowlock/lock_table.hpp"

namespace origins {

/// The tenant of a service; its name stands in each line of the log.
struct tenant_context {
  std::string tenant;
};

/// Thread-safety: all members may be called from any thread.
class shared_lock_service {
 public:
  /// `after_find` runs between the find and the save, so that a test can come between them.
  shared_lock_service(
      rowlock::lock_table& locks, tenant_context context, log_sink log,
      std::function<void()> after_find = [] {})
      : locks_{locks},
        context_{std::move(context)},
        log_{std::move(log)},
        after_find_{std::move(after_find)} {}

  /// Runs the callback under the lock, and hands on what it returns. Empty if the lock was not
  /// acquired: it is held, its version has moved since it was found, or another transaction inserts
  /// its row. Nothing else is swallowed: a fault is thrown.
  ///
  /// `reportable_id` is for people: it stands in the log and in the observer's events.
  ///
  /// What the original could not promise: the callback may take `const rowlock::lease&`, which says
  /// when the lock is lost, and proves it to a `fence` in a transaction of the callback.
  template <class Callback>
  auto acquire_lock(const std::string& source_id, const std::string& reportable_id,
                    const std::string& lock_type, Callback&& callback) {
    const auto run = [&](const rowlock::lease& held) -> decltype(auto) {
      if constexpr (std::is_invocable_v<Callback&, const rowlock::lease&>) {
        return std::invoke(callback, held);
      } else {
        return std::invoke(callback);
      }
    };
    using result = std::decay_t<decltype(run(std::declval<const rowlock::lease&>()))>;
    static_assert(!std::is_void_v<result>, "the callback returns what is to be handed on");
    const rowlock::lock_key row{lock_type, source_id};

    // Find the row by type and source id, or insert one.
    const auto found = locks_.read(row);
    if (!found.acquired()) return not_acquired<result>(reportable_id, found.refusal());
    after_find_();

    // Set it, if its version is still the one that was found; unset it after the callback. What the
    // original could not promise: it is unset if the callback throws, too, and its failure_count
    // goes up; the time is that of the database; a holder that dies is taken over when its lease
    // has run out, and its expiry_count goes up.
    auto done = locks_.with_lock(row,
                                 [&](const rowlock::lease& held) {
                                   const removal removing{*this, source_id, reportable_id};
                                   return run(held);
                                 },
                                 {.expected = *found, .correlation_id = reportable_id});
    if (!done.acquired()) return not_acquired<result>(reportable_id, done.refusal());
    // What the original could not promise: a lock that was lost, or whose removal is in doubt, is
    // reported, and the row of a successor stays set.
    if (!done.kept()) {
      say(log_level::warning, "Did not keep the lock for " + reportable_id + " to its end");
    }
    return std::optional<result>{*std::move(done)};
  }

 private:
  /// Says at its end that the lock is about to be removed.
  struct removal {
    removal(const shared_lock_service& by, const std::string& source, const std::string& reportable)
        : service{by}, source_id{source}, reportable_id{reportable} {}
    removal(const removal&) = delete;
    removal& operator=(const removal&) = delete;
    ~removal() {
      service.say(log_level::info, "Remove lock for " + reportable_id + ", sourceId " + source_id);
    }

    const shared_lock_service& service;
    const std::string& source_id;
    const std::string& reportable_id;
  };

  template <class Result>
  std::optional<Result> not_acquired(const std::string& reportable_id,
                                     const rowlock::refusal& why) const {
    std::ostringstream text;
    text << "No lock for " << reportable_id << ": " << why;
    say(log_level::info, text.str());
    return std::nullopt;
  }

  /// A log that fails changes neither the result nor the lock.
  void say(log_level level, const std::string& text) const noexcept {
    try {
      log_(level, '[' + context_.tenant + "] " + text);
    } catch (...) {
    }
  }

  rowlock::lock_table& locks_;
  const tenant_context context_;
  const log_sink log_;
  const std::function<void()> after_find_;
};

}  // namespace origins

#endif
