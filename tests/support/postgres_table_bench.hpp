// The lock table in a fresh schema of the test server, whatever store uses it.
#ifndef ROWLOCK_TESTS_SUPPORT_POSTGRES_TABLE_BENCH_HPP
#define ROWLOCK_TESTS_SUPPORT_POSTGRES_TABLE_BENCH_HPP

#include <memory>
#include <string>

#include "support/postgres_schema.hpp"
#include "support/store_bench.hpp"

namespace rowlock::tests {

/// Those that derive from it say which store and which application use the table.
class postgres_table_bench : public store_bench {
 public:
  void run_out(const lock_key& key) override;
  void let_done_lapse(const lock_key& key) override;
  void leave_behind_the_clock(const lock_key& key) override;
  void put_ahead_of_the_clock(const lock_key& key) override;
  bool is_blank(const lock_key& key) override;
  std::shared_ptr<void> lock_as_a_stranger(const lock_key& key) override;

 protected:
  [[nodiscard]] std::string table() const { return schema_.table().text(); }

 private:
  postgres_schema schema_;
};

}  // namespace rowlock::tests

#endif
