// The store of a distributed lock manager: one record for each lock.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_LOCK_MANAGER_LOCK_MANAGER_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_LOCK_MANAGER_LOCK_MANAGER_HPP

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/store.hpp"

namespace origins {

/// How far a lock reaches.
enum class lock_level {
  dc,   ///< Within one data centre: locks of different farms never meet.
  xdc,  ///< Across data centres.
};

class lock_store_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Another holder has the lock.
class lock_unavailable : public lock_store_error {
 public:
  using lock_store_error::lock_store_error;
};
/// A remove failed five times; the last cause is nested.
class retries_exhausted : public lock_store_error {
 public:
  using lock_store_error::lock_store_error;
};
/// A write failed five times, and the last cause is nested; or the store is closed.
class connection_error : public lock_store_error {
 public:
  using lock_store_error::lock_store_error;
};

struct lock_store_options {
  std::string farm_id;
  std::string set_suffix;
  /// The clock of the pauses.
  std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
  /// The time that is written into the record.
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

/// Uses the port of a `rowlock::store` directly, as a lock manager of its own would: no renewal, no
/// waiting, no threads.
///
/// Thread-safety: all members may be called from any thread, but `close` while no other call is
/// under way.
class lock_store {
 public:
  static constexpr unsigned attempts = 5;
  static constexpr std::chrono::milliseconds pause{80};

  /// With a client that is connected, and shared with others. Its life is not managed, except that
  /// `close` closes it for all of them, as in the original: `close_client` does that.
  lock_store(std::shared_ptr<rowlock::store> client, std::function<void()> close_client,
             lock_store_options options)
      : client_{std::move(client)},
        close_client_{std::move(close_client)},
        options_{std::move(options)} {
    if ((options_.farm_id + options_.set_suffix).find('#') == std::string::npos) return;
    throw std::invalid_argument{
        "a farm id or a set suffix has a #, which joins them: leave it out"};
  }
  /// With a client of its own, which `close` destroys.
  lock_store(std::unique_ptr<rowlock::store> client, lock_store_options options)
      : lock_store{std::shared_ptr{std::move(client)}, {}, std::move(options)} {}

  /// Does nothing: the table is there, or the first call fails.
  void initialize() {}

  /// Writes the record if there is none; it frees itself after `ttl`, when its holder has died.
  /// Throws `lock_unavailable` if there is one, and `connection_error` after the fifth fault.
  void write(const std::string& lock_id, lock_level level, std::chrono::milliseconds ttl) {
    const auto row = row_of(lock_id, level);
    // One owner for all tries: a try whose answer got lost is recognised by the next one.
    const rowlock::acquire_request request{
        .key = row, .owner = rowlock::make_owner_id(), .holder = options_.farm_id, .ttl = ttl};
    retrying<connection_error>("the lock could not be written", [&] {
      const auto answer = client().acquire(std::array{request}).front();
      if (answer.status == rowlock::acquire_status::busy) throw_busy();
      if (answer.status != rowlock::acquire_status::granted) {
        throw lock_unavailable{lock_id + " is held by " + answer.holder};
      }
      const std::scoped_lock lock{mutex_};
      held_[row] = {.key = row, .owner = request.owner, .version = *answer.version};
      (void)client().write_note({row, request.owner, *answer.version, record()});
    });
  }

  /// Deletes the record; that there is none is no error. Throws `retries_exhausted` after the fifth
  /// fault.
  ///
  /// What the original could not promise: it deletes the record that this store has written, not
  /// that of a successor.
  void remove(const std::string& lock_id, lock_level level) {
    const auto row = row_of(lock_id, level);
    retrying<retries_exhausted>("the lock could not be removed", [&] {
      auto& used = client();
      const std::scoped_lock lock{mutex_};
      const auto found = held_.find(row);
      if (found == held_.end()) return;
      const auto answer = used.release(std::array{found->second}).front();
      if (answer == rowlock::change_answer::busy) throw_busy();
      held_.erase(found);
    });
  }

  /// Closes the client, shared or not. Every later call throws.
  void close() {
    client_.reset();
    if (close_client_) close_client_();
  }

  /// The name of the set: `DC#<farm>#<suffix>` or `XDC#<suffix>`.
  [[nodiscard]] std::string set_name(lock_level level) const {
    if (level == lock_level::xdc) return "XDC#" + options_.set_suffix;
    return "DC#" + options_.farm_id + '#' + options_.set_suffix;
  }

  /// The row of a lock. No two sets or ids have the same one.
  [[nodiscard]] rowlock::lock_key row_of(const std::string& lock_id, lock_level level) const {
    return {"lock_manager", rowlock::source_id_of({set_name(level), lock_id})};
  }

 private:
  /// `<farm>##data` is 1, `<farm>##uat` the time of the acquisition in milliseconds.
  [[nodiscard]] std::string record() const {
    const auto uat =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.now().time_since_epoch());
    return options_.farm_id + "##data=1 " + options_.farm_id +
           "##uat=" + std::to_string(uat.count());
  }

  [[nodiscard]] rowlock::store& client() const {
    if (!client_) throw connection_error{"the lock store is closed: make another one"};
    return *client_;
  }

  [[noreturn]] static void throw_busy() {
    throw rowlock::error{rowlock::errc::unavailable, "a transaction has the row"};
  }

  /// Every fault is tried again, whatever its kind, as in the original.
  template <class Exhausted, class Call>
  void retrying(const char* what, const Call& call) const {
    for (unsigned attempt = 1;; ++attempt) {
      try {
        return call();
      } catch (const rowlock::error&) {
        if (attempt == attempts) std::throw_with_nested(Exhausted{what});
      }
      options_.time->sleep_until(options_.time->now() + pause, {});
    }
  }

  std::shared_ptr<rowlock::store> client_;
  const std::function<void()> close_client_;
  const lock_store_options options_;
  std::mutex mutex_;
  std::map<rowlock::lock_key, rowlock::release_request> held_;  // guarded by mutex_
};

}  // namespace origins

#endif
