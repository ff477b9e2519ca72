// A lock on a list of resources, retryable tasks, and a scheduled job under such a lock.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_RESOURCE_LOCKER_RESOURCE_LOCKER_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_RESOURCE_LOCKER_RESOURCE_LOCKER_HPP

#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "origins/support/log.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace origins {

class could_not_acquire_lock : public std::runtime_error {
 public:
  explicit could_not_acquire_lock(const std::vector<std::string>& resources)
      : std::runtime_error{"could not acquire the lock on " + rowlock::source_id_of(resources)} {}
};

/// The name of this machine, if it has one.
inline std::optional<std::string> host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return std::nullopt;
  return name.data();
}

/// `host-thread-time`, for people; without a name the host is `unknown_service_host`.
inline std::string locker_id(
    const std::optional<std::string>& host = host_name(),
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const bool is_known = host && !host->empty();
  std::ostringstream id;
  id << (is_known ? *host : "unknown_service_host") << '-' << std::this_thread::get_id() << '-'
     << ms.count();
  return id.str();
}

/// One lock on all of the resources together. It meets only lockers of the same list in the same
/// order, as in the original: sort the ids if their order has no meaning. Its destructor unlocks.
///
/// Thread-safety: one thread at a time.
class resource_locker {
 public:
  /// The lock_table should not renew, so that the duration is the limit, as in the original. If it
  /// renews, the lock lasts as long as its process lives, and the duration is its `ttl`.
  ///
  /// Throws `rowlock::error` (misuse) for no resource at all, and for a list that is longer than a
  /// source id may be (255 bytes).
  resource_locker(rowlock::lock_table& locks, std::vector<std::string> resources,
                  std::chrono::milliseconds duration, log_sink log, std::string id = locker_id())
      : locks_{locks},
        resources_{std::move(resources)},
        row_{"resources", rowlock::source_id_of(resources_)},
        duration_{duration},
        log_{std::move(log)},
        id_{std::move(id)} {
    rowlock::check(row_);
  }

  /// Adds the lock if it is absent. Throws `could_not_acquire_lock` if it is there, even if it is
  /// this locker's own, and `rowlock::error`.
  void lock() {
    auto acquired = locks_.try_acquire(row_, {.ttl = duration_, .holder = id_});
    if (!acquired.acquired()) {
      std::ostringstream why;
      why << acquired.refusal();
      log(log_level::debug, why.str());
      throw could_not_acquire_lock{resources_};
    }
    held_ = *std::move(acquired);
    is_unlocking_ = false;
  }

  /// Deletes the lock if it is still this locker's, and returns whether it was; false with a
  /// warning if it was lost. Comparing and deleting are one statement, which the original could not
  /// promise.
  ///
  /// Throws `rowlock::error` (unavailable) when the database does not confirm it. Then the
  /// lock_table goes on in the background, and the next call reads whether it is done. If another
  /// locker has the list by then, that counts as lost: the row does not show which came first, the
  /// delete or the end of the duration.
  bool unlock() {
    if (!held_) return false;
    auto ended = rowlock::release_result::deferred;
    if (!is_unlocking_) ended = held_->release();
    is_unlocking_ = ended == rowlock::release_result::deferred;
    if (is_unlocking_) ended = read_unlocked();
    held_.reset();
    is_unlocking_ = false;
    if (ended == rowlock::release_result::released) return true;
    log(log_level::warning, "the lock on " + row_.source_id + " was lost before its unlock");
    return false;
  }

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const rowlock::lock_key& row() const noexcept { return row_; }

  // What the original could not promise.

  /// Between `lock` and `unlock`: for its `lost()`, and to fence a transaction with it.
  [[nodiscard]] const rowlock::lease& held() const { return held_.value(); }

 private:
  rowlock::release_result read_unlocked() {
    const auto found = locks_.look(row_);
    if (!found || !found->owned) return rowlock::release_result::released;
    if (found->version != held_->token()) return rowlock::release_result::lost;
    if (!found->is_live()) return rowlock::release_result::released;  // at the end of its duration
    throw rowlock::error{rowlock::errc::unavailable, "the unlock is not confirmed: look again"};
  }
  /// A log that fails changes nothing.
  void log(log_level level, const std::string& text) const noexcept {
    try {
      log_(level, text);
    } catch (...) {
    }
  }

  rowlock::lock_table& locks_;
  const std::vector<std::string> resources_;
  const rowlock::lock_key row_;
  const std::chrono::milliseconds duration_;
  const log_sink log_;
  const std::string id_;
  std::optional<rowlock::lease> held_;
  bool is_unlocking_ = false;
};

/// The last try failed; its exception is nested.
class retryable_task_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something that is tried several times, with a fixed delay.
class retryable_task {
 public:
  /// `max_retry` counts the first try too; 0 counts as 1.
  retryable_task(std::chrono::milliseconds delay, unsigned max_retry,
                 std::shared_ptr<rowlock::time_source> time = rowlock::system_time())
      : delay_{delay}, max_retry_{max_retry}, time_{std::move(time)} {}
  retryable_task(const retryable_task&) = delete;
  retryable_task& operator=(const retryable_task&) = delete;
  virtual ~retryable_task() = default;

  /// Throws `retryable_task_failed` when try number `max_retry` failed. Only a `std::exception` is
  /// a failure: anything else that `run` throws passes through at once.
  void call() {
    for (unsigned attempt = 1;; ++attempt) {
      try {
        return run();
      } catch (const std::exception& thrown) {
        if (attempt >= max_retry_) {
          std::throw_with_nested(
              retryable_task_failed{"failed " + std::to_string(attempt) + " times"});
        }
        if (handle(thrown)) return;
      }
      time_->sleep_until(time_->now() + delay_, {});
    }
  }

 protected:
  /// One try.
  virtual void run() = 0;
  /// Called after a try that failed and was not the last. True: there is nothing left to do. What
  /// it throws ends the task.
  virtual bool handle(const std::exception& /*thrown*/) { return false; }

 private:
  const std::chrono::milliseconds delay_;
  const unsigned max_retry_;
  const std::shared_ptr<rowlock::time_source> time_;
};

class retryable_lock_resource final : public retryable_task {
 public:
  retryable_lock_resource(resource_locker& locker, std::chrono::milliseconds delay,
                          unsigned max_retry,
                          std::shared_ptr<rowlock::time_source> time = rowlock::system_time())
      : retryable_task{delay, max_retry, std::move(time)}, locker_{locker} {}

 private:
  void run() override { locker_.lock(); }

  resource_locker& locker_;
};

class retryable_unlock_resource final : public retryable_task {
 public:
  retryable_unlock_resource(resource_locker& locker, std::chrono::milliseconds delay,
                            unsigned max_retry,
                            std::shared_ptr<rowlock::time_source> time = rowlock::system_time())
      : retryable_task{delay, max_retry, std::move(time)}, locker_{locker} {}

 private:
  void run() override { locker_.unlock(); }

  resource_locker& locker_;
};

/// What the scheduler expects of a job that failed; the cause is nested.
class job_execution_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Updates all events of an account while it has the lock on them.
class update_events_job {
 public:
  struct settings {
    std::chrono::milliseconds duration = std::chrono::minutes{1};
    std::chrono::milliseconds delay{100};
    unsigned max_retry = 3;
    std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
  };

  /// `update` gets the lease, which the original's job did not have: it can check whether its
  /// time has run out, and fence its transaction.
  update_events_job(rowlock::lock_table& locks, std::string account,
                    std::function<void(const rowlock::lease&)> update, log_sink log,
                    settings limits)
      : locks_{locks},
        account_{std::move(account)},
        update_{std::move(update)},
        log_{std::move(log)},
        limits_{std::move(limits)} {}

  /// Throws `job_execution_error`. The events are unlocked in any case.
  void execute() const {
    try {
      update_under_lock();
    } catch (...) {
      std::throw_with_nested(job_execution_error{"the events were not updated"});
    }
  }

 private:
  class finally {
   public:
    finally(const update_events_job& job, resource_locker& locker) : job_{job}, locker_{locker} {}
    finally(const finally&) = delete;
    finally& operator=(const finally&) = delete;
    ~finally() { job_.unlock(locker_); }

   private:
    const update_events_job& job_;
    resource_locker& locker_;
  };

  void update_under_lock() const {
    resource_locker locker{locks_, {account_, "events"}, limits_.duration, log_};
    const finally unlocking{*this, locker};
    retryable_lock_resource{locker, limits_.delay, limits_.max_retry, limits_.time}.call();
    update_(locker.held());
  }
  /// The update stands if its unlock fails: the lock runs out by itself.
  void unlock(resource_locker& locker) const noexcept {
    try {
      retryable_unlock_resource{locker, limits_.delay, limits_.max_retry, limits_.time}.call();
    } catch (const std::exception& thrown) {
      try {
        log_(log_level::warning, "the unlock of " + account_ + ' ' + thrown.what());
      } catch (...) {  // a log that fails changes nothing
      }
    }
  }

  rowlock::lock_table& locks_;
  const std::string account_;
  const std::function<void(const rowlock::lease&)> update_;
  const log_sink log_;
  const settings limits_;
};

}  // namespace origins

#endif
