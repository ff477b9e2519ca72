// The rows of an in-memory lock table.
#ifndef ROWLOCK_TESTING_MEMORY_ROWS_HPP
#define ROWLOCK_TESTING_MEMORY_ROWS_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock {

class memory_transaction;

namespace detail {

struct memory_row {
  rowlock::version version;
  std::optional<owner_id> owner;
  std::string holder;
  std::string acquired_at;
  boot_clock::time_point acquired_when;  // the same time as acquired_at
  boot_clock::time_point expires_at;
  std::chrono::microseconds ttl{};
  std::string correlation_id;
  /// When and how the row was given up; `holder` and `acquired_at` are still those of the grant.
  std::optional<std::chrono::system_clock::time_point> ended_at;
  std::string_view ended_as;
  std::optional<std::chrono::microseconds> lasted;
  rowlock::version asked_version;
  rowlock::version done_by;
  std::string done_at;
  boot_clock::time_point done_until;
  /// What a read shows as it is: counts, texts.
  row_state shown;
  /// False: a transaction that is still open has created the row.
  bool is_committed = true;
  const memory_transaction* locked_by = nullptr;
};

/// The table that a memory_store and its transactions share.
///
/// Thread-safety: `mutex` guards the rows.
class memory_rows {
 public:
  explicit memory_rows(std::shared_ptr<time_source> time) : time_{std::move(time)} {}

  checked_mutex mutex;
  /// The mutex. Throws `error` (misuse) in a child of fork().
  [[nodiscard]] checked_mutex& mutex_at_home() ROWLOCK_THREAD_SAFETY(lock_returned(mutex));

  std::map<lock_key, memory_row> by_key ROWLOCK_GUARDED_BY(mutex);

  [[nodiscard]] boot_clock::time_point now() const { return time_->now(); }
  [[nodiscard]] std::int64_t now_us() const;
  [[nodiscard]] std::chrono::microseconds left_of(const memory_row& found) const;
  [[nodiscard]] bool is_live(const memory_row& found) const { return found.expires_at > now(); }
  [[nodiscard]] bool is_done(const memory_row& found) const { return found.done_until > now(); }
  [[nodiscard]] row_state state_of(const lock_key& key, const memory_row& found) const;
  /// The row, if it still has the grant of `owner` at version `seen`; else null.
  memory_row* granted(const lock_key& key, const owner_id& owner, version seen)
      ROWLOCK_REQUIRES(mutex);

  void move_version(memory_row& moved) const;
  /// The row is free, and says how its holder has given it up.
  void end(memory_row& ended, std::string_view how) const;
  /// A transaction has the row: of its last holder nothing is left.
  void use(memory_row& used, std::string_view how) const;
  void release(memory_row& held, const release_request& request) const;

 private:
  home_process home_;
  const std::shared_ptr<time_source> time_;
};

/// A time, as the databases show it.
std::string utc_text(
    std::chrono::system_clock::time_point shown = std::chrono::system_clock::now());

}  // namespace detail

}  // namespace rowlock

#endif
