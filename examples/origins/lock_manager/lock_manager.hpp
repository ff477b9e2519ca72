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
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/store.hpp"

namespace origins {

/// How far a lock reaches.
enum class lock_level {
  dc,   ///< Within one data centre: locks of different farms never meet.
  xdc,  ///< Across data centres: they do.
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
/// A write failed five times, and the last cause is nested; or the client is closed.
class connection_error : public lock_store_error {
 public:
  using lock_store_error::lock_store_error;
};

/// A connected client that several lock stores may use. It closes its connections by dropping the
/// store, so no other pointer to the store should be left.
///
/// Thread-safety: all members may be called from any thread.
class shared_client {
 public:
  explicit shared_client(std::shared_ptr<rowlock::store> rows) : rows_{std::move(rows)} {}

  /// Throws `connection_error` after `close`.
  [[nodiscard]] std::shared_ptr<rowlock::store> rows() const {
    const std::scoped_lock lock{mutex_};
    if (!rows_) throw connection_error{"the client is closed: connect another one"};
    return rows_;
  }
  /// Closes it for all its users. A call under way keeps the connections until it ends.
  void close() {
    std::shared_ptr<rowlock::store> closed;  // destroyed without the mutex
    const std::scoped_lock lock{mutex_};
    closed.swap(rows_);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<rowlock::store> rows_;  // guarded by mutex_
};

struct lock_store_options {
  /// The clock of the pauses.
  std::shared_ptr<rowlock::time_source> time = rowlock::system_time();
  /// The time that is written into the record.
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

/// Uses the port of a `rowlock::store` directly, as a lock manager of its own would: no renewal, no
/// waiting, no threads.
///
/// It remembers its last record of each lock until `remove`, even when the record has run out: its
/// memory is bounded by the number of lock ids.
///
/// Thread-safety: all members may be called from any thread.
class lock_store {
 public:
  static constexpr unsigned attempts = 5;
  static constexpr std::chrono::milliseconds pause{80};

  /// The client's life is not managed, except that `close` closes it, shared or not. Its lock table
  /// must exist. Throws `std::invalid_argument` for a suffix with `#`: two sets could have the same
  /// name.
  lock_store(std::shared_ptr<shared_client> client, std::string set_suffix,
             lock_store_options options = {})
      : client_{std::move(client)},
        set_suffix_{std::move(set_suffix)},
        options_{std::move(options)} {
    if (set_suffix_.find('#') == std::string::npos) return;
    throw std::invalid_argument{"a set suffix has a #, which joins it to the farm: leave it out"};
  }

  /// Does nothing.
  void initialize() {}

  /// Writes the record if there is none; it frees itself after `ttl`, when its holder has died.
  /// Returns its version, which no other record has.
  ///
  /// Throws `lock_unavailable` if there is a record, or if it was lost before it was complete;
  /// `connection_error` after the fifth fault; and `rowlock::error` (misuse) for an id, a farm or a
  /// ttl that the lock table does not take. After `connection_error` the record may be there. It
  /// frees itself after `ttl`; `remove` deletes it, unless every answer got lost.
  rowlock::version write(const std::string& lock_id, lock_level level, const std::string& farm_id,
                         std::chrono::milliseconds ttl) {
    // One owner for all tries: a try whose answer got lost is recognised by the next one.
    const rowlock::acquire_request request{.key = row_of(lock_id, level, farm_id),
                                           .owner = rowlock::make_owner_id(),
                                           .holder = farm_id,
                                           .ttl = ttl};
    rowlock::check(request);
    return retrying<connection_error>("the lock could not be written", [&] {
      const auto rows = client_->rows();
      const auto answer = rows->acquire(std::array{request}).front();
      if (answer.status == rowlock::acquire_status::busy) throw_busy();
      if (answer.status != rowlock::acquire_status::granted) {
        throw lock_unavailable{lock_id + " is held by " + answer.holder};
      }
      remember({.key = request.key, .owner = request.owner, .version = *answer.version});
      const auto noted =
          rows->write_note({request.key, request.owner, *answer.version, record(farm_id)});
      if (noted == rowlock::change_answer::busy) throw_busy();
      if (noted == rowlock::change_answer::lost) {
        throw lock_unavailable{lock_id + " was lost before its record was complete"};
      }
      return *answer.version;
    });
  }

  /// Deletes the record that this store has written last, or, with a version, that one alone. That
  /// there is none is no error. Throws `retries_exhausted` after the fifth fault.
  ///
  /// What the original could not promise: it deletes no other record, neither that of a successor,
  /// nor one that another thread writes through this store between the tries.
  void remove(const std::string& lock_id, lock_level level, const std::string& farm_id,
              std::optional<rowlock::version> only = std::nullopt) {
    (void)client_->rows();  // throws after `close`, even if there is nothing to delete
    const auto written = last_written(row_of(lock_id, level, farm_id));
    if (!written || (only && *only != written->version)) return;
    retrying<retries_exhausted>("the lock could not be removed", [&] {
      const auto answer = client_->rows()->release(std::array{*written}).front();
      if (answer == rowlock::change_answer::busy) throw_busy();
    });
    forget(*written);
  }

  /// Closes the client, shared or not. Every later call of its users throws `connection_error`.
  void close() { client_->close(); }

  /// The name of the set: `DC#<farm>#<suffix>` or `XDC#<suffix>`.
  [[nodiscard]] std::string set_name(lock_level level, const std::string& farm_id) const {
    if (level == lock_level::xdc) return "XDC#" + set_suffix_;
    return "DC#" + farm_id + '#' + set_suffix_;
  }

  /// The row of a lock. No two sets or ids have the same one.
  [[nodiscard]] rowlock::lock_key row_of(const std::string& lock_id, lock_level level,
                                         const std::string& farm_id) const {
    return {"lock_manager", rowlock::source_id_of({set_name(level, farm_id), lock_id})};
  }

 private:
  /// `<farm>##data` is 1, `<farm>##uat` the time of the acquisition in milliseconds.
  [[nodiscard]] std::string record(const std::string& farm_id) const {
    const auto uat =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.now().time_since_epoch());
    return farm_id + "##data=1 " + farm_id + "##uat=" + std::to_string(uat.count());
  }

  [[noreturn]] static void throw_busy() {
    throw rowlock::error{rowlock::errc::unavailable, "a transaction has the row: try again later"};
  }

  /// Every fault is tried again, whatever its kind, as in the original.
  template <class Exhausted, class Call>
  std::invoke_result_t<const Call&> retrying(const char* what, const Call& call) const {
    for (unsigned attempt = 1;; ++attempt) {
      try {
        return call();
      } catch (const rowlock::error&) {
        if (attempt == attempts) std::throw_with_nested(Exhausted{what});
      }
      options_.time->sleep_until(options_.time->now() + pause, {});
    }
  }

  /// The newest one, if several threads write the same lock.
  void remember(const rowlock::release_request& written) {
    const std::scoped_lock lock{mutex_};
    auto& last = written_[written.key];
    if (last.version < written.version) last = written;
  }
  [[nodiscard]] std::optional<rowlock::release_request> last_written(const rowlock::lock_key& row) {
    const std::scoped_lock lock{mutex_};
    const auto found = written_.find(row);
    if (found == written_.end()) return std::nullopt;
    return found->second;
  }
  void forget(const rowlock::release_request& removed) {
    const std::scoped_lock lock{mutex_};
    const auto found = written_.find(removed.key);
    if (found != written_.end() && found->second.version == removed.version) written_.erase(found);
  }

  const std::shared_ptr<shared_client> client_;
  const std::string set_suffix_;
  const lock_store_options options_;
  std::mutex mutex_;
  /// The record that this store has written last, for each row. It may have run out.
  std::map<rowlock::lock_key, rowlock::release_request> written_;  // guarded by mutex_
};

}  // namespace origins

#endif
