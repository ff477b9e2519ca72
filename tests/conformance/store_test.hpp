// The fixture of the conformance suite, and its calls of a store.
#ifndef ROWLOCK_TESTS_CONFORMANCE_STORE_TEST_HPP
#define ROWLOCK_TESTS_CONFORMANCE_STORE_TEST_HPP

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "conformance/stores.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"
#include "support/patience.hpp"

namespace rowlock {

/// So that a failed comparison of answers can be read.
inline void PrintTo(acquire_status shown, std::ostream* out) {
  constexpr std::array names{"granted", "held", "busy", "stale", "done", "withheld"};
  *out << names.at(static_cast<std::size_t>(shown));
}
inline void PrintTo(change_answer shown, std::ostream* out) {
  constexpr std::array names{"done", "busy", "lost"};
  *out << names.at(static_cast<std::size_t>(shown));
}
inline void PrintTo(force_answer shown, std::ostream* out) {
  constexpr std::array names{"released", "busy", "stale"};
  *out << names.at(static_cast<std::size_t>(shown));
}

}  // namespace rowlock

namespace rowlock::tests {

using namespace std::chrono_literals;

/// A fresh table, two owners, and one call at a time.
class store_test : public testing::TestWithParam<bench_kind> {
 protected:
  acquire_answer acquire(const lock_key& key, const owner_id& owner,
                         std::optional<version> expected = {}, std::chrono::microseconds ttl = 1h) {
    return acquire(*rows_, key, owner, expected, ttl);
  }
  static acquire_answer acquire(store& rows, const lock_key& key, const owner_id& owner,
                                std::optional<version> expected = {},
                                std::chrono::microseconds ttl = 1h) {
    const acquire_request request{
        .key = key, .owner = owner, .holder = "host:1", .ttl = ttl, .expected = expected};
    return rows.acquire(std::array{request}).at(0);
  }

  change_answer renew(const lock_key& key, const owner_id& owner, version granted,
                      std::chrono::microseconds ttl = 1h) {
    return renew(*rows_, key, owner, granted, ttl);
  }
  static change_answer renew(store& rows, const lock_key& key, const owner_id& owner,
                             version granted, std::chrono::microseconds ttl = 1h) {
    const renew_request request{.key = key, .owner = owner, .version = granted, .ttl = ttl};
    return rows.renew(std::array{request}).at(0);
  }

  change_answer release(const lock_key& key, const owner_id& owner, version granted,
                        bool failed = false) {
    return release(*rows_, key, owner, granted, failed);
  }
  static change_answer release(store& rows, const lock_key& key, const owner_id& owner,
                               version granted, bool failed = false) {
    const release_request request{.key = key, .owner = owner, .version = granted, .failed = failed};
    return rows.release(std::array{request}).at(0);
  }

  std::optional<row_state> read(const lock_key& key) { return rows_->read(std::array{key}).at(0); }
  std::optional<row_state> prepare(const lock_key& key) {
    return rows_->read(std::array{key}, read_mode::ready_to_commit).at(0);
  }

  /// The row's state, which must exist.
  row_state row(const lock_key& key) { return read(key).value(); }

  /// Makes the row with a lease of `owner`; its version.
  version granted(const lock_key& key, const owner_id& owner, std::chrono::microseconds ttl = 1h) {
    return acquire(key, owner, {}, ttl).version.value();
  }
  /// The same, run out.
  version run_out(const lock_key& key, const owner_id& owner) {
    const auto was_granted = granted(key, owner);
    bench_->run_out(key);
    return was_granted;
  }
  /// Until the database writes another time than `since`.
  void let_time_pass_after(const std::string& since) {
    int number = 0;
    await_that([&] {
      const lock_key clock{"clock", std::to_string(++number)};
      granted(clock, make_owner_id());
      return row(clock).acquired_at > since;
    });
  }
  /// Lets another owner acquire and release the key, so that its version moves.
  void touch(const lock_key& key) {
    ASSERT_EQ(release(key, theirs_, granted(key, theirs_)), change_answer::done);
  }
  /// Makes the row, unowned; its version.
  version unowned(const lock_key& key) { return prepare(key).value().version; }

  const std::unique_ptr<store_bench> bench_ = GetParam().make();
  const std::shared_ptr<store> rows_ = bench_->open();
  const owner_id mine_ = make_owner_id();
  const owner_id theirs_ = make_owner_id();
  const lock_key key_{.type = "invoice", .source_id = "42"};
  const lock_key other_key_{.type = "invoice", .source_id = "43"};
};

/// What must be the same in a row that a refusal left alone. (What remains of a lease shrinks.)
inline std::string described(const row_state& row) {
  return row.key.type + '/' + row.key.source_id + " version " + std::to_string(row.version.number) +
         (row.owned ? " owned by " + row.holder + " since " + row.acquired_at : " unowned") +
         (row.is_live() ? " live" : "") + " failures " + std::to_string(row.failure_count) +
         " expiries " + std::to_string(row.expiry_count) + " note '" + row.note + "' taken for '" +
         row.force_reason + "'" + (row.done ? " done at " + row.done->at : "");
}

inline std::string name_of(const testing::TestParamInfo<bench_kind>& instance) {
  return instance.param.name;
}

}  // namespace rowlock::tests

#endif
