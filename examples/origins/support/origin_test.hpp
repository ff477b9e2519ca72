// The fixture of the origins' tests: a lock table on each engine, and virtual time.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_ORIGIN_TEST_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_ORIGIN_TEST_HPP

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/testing/faulty_store.hpp"
#include "rowlock/testing/store_bench.hpp"

namespace origins {

using namespace std::chrono_literals;

/// For code that sleeps in the test's own thread: a sleep ends at once, and has moved `moved`.
class virtual_time final : public rowlock::time_source {
 public:
  explicit virtual_time(std::shared_ptr<rowlock::manual_time> moved) : moved_{std::move(moved)} {}

  [[nodiscard]] rowlock::boot_clock::time_point now() const noexcept override {
    return moved_->now();
  }
  void wait_until(std::unique_lock<std::mutex>& /*lock*/, std::condition_variable& /*wakeup*/,
                  rowlock::boot_clock::time_point until) override {
    const auto slept = until - now();
    if (slept <= rowlock::boot_clock::duration::zero()) return;
    pauses_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(slept));
    moved_->advance(slept);
  }

  /// The sleeps so far.
  [[nodiscard]] const std::vector<std::chrono::milliseconds>& pauses() const { return pauses_; }

 private:
  const std::shared_ptr<rowlock::manual_time> moved_;
  std::vector<std::chrono::milliseconds> pauses_;
};

/// A test on each of the engines.
class origin_test : public testing::TestWithParam<rowlock::conformance::bench_kind> {
 protected:
  /// The last committed state of the row; none if there is none.
  std::optional<rowlock::row_state> row(const rowlock::lock_key& key) {
    return rows_->read(std::array{key}).front();
  }
  bool is_held(const rowlock::lock_key& key) {
    const auto found = row(key);
    return found && found->is_live();
  }

  const std::unique_ptr<rowlock::conformance::store_bench> bench_ = GetParam().make();
  const std::shared_ptr<rowlock::store> rows_ = bench_->open();
  /// The database, with the faults that the test adds.
  rowlock::faulty_store faulty_{*rows_};
  /// The clock of lock_tables; stands still unless the test, or a sleep on `virtual_`, moves it.
  const std::shared_ptr<rowlock::manual_time> clock_ = std::make_shared<rowlock::manual_time>();
  const std::shared_ptr<virtual_time> virtual_ = std::make_shared<virtual_time>(clock_);
};

/// PostgreSQL through libpqxx, SQLite through SQLiteCpp, MariaDB through SOCI.
inline std::vector<rowlock::conformance::bench_kind> engines() {
  auto kinds = rowlock::conformance::every_store();
  std::erase_if(kinds, [](const auto& kind) {
    return kind.name != "postgres" && kind.name != "sqlite" && kind.name != "soci_mysql";
  });
  return kinds;
}

inline std::string name_of(
    const testing::TestParamInfo<rowlock::conformance::bench_kind>& instance) {
  return instance.param.name == "soci_mysql" ? "mariadb" : instance.param.name;
}

}  // namespace origins

#endif
