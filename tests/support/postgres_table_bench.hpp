// The lock table on the test server, whatever store uses it.
#ifndef ROWLOCK_TESTS_SUPPORT_POSTGRES_TABLE_BENCH_HPP
#define ROWLOCK_TESTS_SUPPORT_POSTGRES_TABLE_BENCH_HPP

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/postgres_schema.hpp"
#include "support/store_bench.hpp"

namespace rowlock::tests {

/// The lock table and the tables of the application, which the tests of a program use one after the
/// other: to make them takes several times as long as a test. A test that has two benches at once
/// has two sets of them.
class kept_postgres_tables {
 public:
  /// `migrate` makes the lock table. Makes one set at once: so a static one ends, with a
  /// connection, before OpenSSL, which the first connection starts.
  explicit kept_postgres_tables(std::function<void(const table_name&)> migrate)
      : migrate_{std::move(migrate)} {
    unused_.push_back(make());
  }

  /// With no rows in any of them.
  std::unique_ptr<postgres_schema> take();
  void give_back(std::unique_ptr<postgres_schema> used) { unused_.push_back(std::move(used)); }

 private:
  std::unique_ptr<postgres_schema> make() const;

  std::function<void(const table_name&)> migrate_;
  std::vector<std::unique_ptr<postgres_schema>> unused_;
};

/// Those that derive from it say which store and which application use the table.
class postgres_table_bench : public store_bench {
 public:
  explicit postgres_table_bench(kept_postgres_tables& kept) : kept_{kept} {}
  ~postgres_table_bench() override { kept_.give_back(std::move(schema_)); }

  void run_out(const lock_key& key) override;
  void let_done_lapse(const lock_key& key) override;
  void leave_behind_the_clock(const lock_key& key) override;
  void put_ahead_of_the_clock(const lock_key& key) override;
  bool is_blank(const lock_key& key) override;
  std::shared_ptr<void> lock_as_a_stranger(const lock_key& key) override;

 protected:
  [[nodiscard]] std::string table() const { return schema_->table().text(); }

 private:
  kept_postgres_tables& kept_;
  std::unique_ptr<postgres_schema> schema_ = kept_.take();
};

}  // namespace rowlock::tests

#endif
