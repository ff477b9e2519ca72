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
#include "rowlock/lock_table.hpp"

namespace origins {

class could_not_acquire_lock : public std::runtime_error {
 public:
  explicit could_not_acquire_lock(const std::vector<std::string>& resources)
      : std::runtime_error{"could not acquire the lock on " + rowlock::source_id_of(resources)} {}
};

/// The name of this machine; `unknown_service_host` if it has none.
inline std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  const bool is_known = gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return is_known ? name.data() : "unknown_service_host";
}

/// `host-thread-time`, for people.
inline std::string locker_id(
    const std::string& host = host_name(),
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  std::ostringstream id;
  id << host.substr(0, 64) << '-' << std::this_thread::get_id() << '-' << ms.count();
  return id.str();
}

/// One lock on all of the resources together: it meets only lockers of the same list in the same
/// order, as in the original.
///
/// Thread-safety: one thread at a time.
class resource_locker {
 public:
  /// The lock_table should not renew, so that the duration is the limit, as in the original; if it
  /// renews, the lock lasts as long as its process lives.
  resource_locker(rowlock::lock_table& locks, std::vector<std::string> resources,
                  std::chrono::milliseconds duration, log_sink log, std::string id = locker_id())
      : locks_{locks},
        resources_{std::move(resources)},
        duration_{duration},
        log_{std::move(log)},
        id_{std::move(id)} {}

  /// Throws `could_not_acquire_lock` if another locker has the resources, and `rowlock::error`.
  void lock() {
    auto acquired = locks_.try_acquire(row(), {.ttl = duration_, .holder = id_});
    if (!acquired.acquired()) {
      std::ostringstream why;
      why << acquired.refusal();
      log_(log_level::debug, why.str());
      throw could_not_acquire_lock{resources_};
    }
    held_ = *std::move(acquired);
  }

  /// Unlocks the resources if they are still this locker's. Returns whether they were. Comparing
  /// and deleting are one statement, which the original could not promise.
  bool unlock() {
    if (!held_) return false;
    auto ended = std::exchange(held_, std::nullopt);
    return ended->release() != rowlock::release_result::lost;
  }

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] rowlock::lock_key row() const {
    return {"resources", rowlock::source_id_of(resources_)};
  }

  // What the original could not promise.

  /// While locked: for its `lost()`, and to fence a transaction with it.
  [[nodiscard]] const rowlock::lease& held() const { return held_.value(); }

 private:
  rowlock::lock_table& locks_;
  const std::vector<std::string> resources_;
  const std::chrono::milliseconds duration_;
  const log_sink log_;
  const std::string id_;
  std::optional<rowlock::lease> held_;
};

/// The last try failed; its exception is nested.
class retryable_task_failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something that is tried several times, with a fixed delay.
class retryable_task {
 public:
  retryable_task(std::chrono::milliseconds delay, unsigned max_retry,
                 std::shared_ptr<rowlock::time_source> time = rowlock::system_time())
      : delay_{delay}, max_retry_{max_retry}, time_{std::move(time)} {}
  retryable_task(const retryable_task&) = delete;
  retryable_task& operator=(const retryable_task&) = delete;
  virtual ~retryable_task() = default;

  /// Tries `max_retry` times at most; then throws `retryable_task_failed`.
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
  /// Called after a try that was not the last. True: there is nothing left to do.
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
  struct tries {
    std::chrono::milliseconds delay{100};
    unsigned count = 3;
    std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
  };

  /// `update` gets the lease, which the original's job did not have: it can look whether its time
  /// has run out, and fence its transaction.
  update_events_job(resource_locker& locker, std::function<void(const rowlock::lease&)> update,
                    tries limits)
      : locker_{locker}, update_{std::move(update)}, limits_{std::move(limits)} {}

  /// Throws `job_execution_error`. The lock is released in any case.
  void execute() {
    try {
      retryable_lock_resource{locker_, limits_.delay, limits_.count, limits_.time}.call();
      const finally unlocking{*this};
      update_(locker_.held());
    } catch (const std::exception&) {
      std::throw_with_nested(job_execution_error{"the events were not updated"});
    }
  }

 private:
  struct finally {
    explicit finally(update_events_job& ended) noexcept : job{ended} {}
    finally(const finally&) = delete;
    finally& operator=(const finally&) = delete;
    ~finally() {
      try {
        retryable_unlock_resource{job.locker_, job.limits_.delay, job.limits_.count,
                                  job.limits_.time}
            .call();
      } catch (const std::exception&) {  // the lock runs out by itself
      }
    }
    update_events_job& job;
  };

  resource_locker& locker_;
  const std::function<void(const rowlock::lease&)> update_;
  const tries limits_;
};

}  // namespace origins

#endif
