// What happens between the look at a row and the write to it.
#include "backends/postgres_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

/// A row that looked free, or missing, and is leased by now.
class PostgresRace : public postgres_table {
 protected:
  row_state row() { return rows_.read(std::array{key_}).at(0).value(); }

  postgres_store rows_ = open_store();
  const version granted_ = acquire(rows_, key_).version.value();
};

TEST_F(PostgresRace, ALeaseThatWasRenewedMeanwhileIsNotUnset) {
  open_work preparing;
  detail::create_rows(preparing.work, key_, table());
  preparing.work.commit();
  EXPECT_TRUE(row().is_live());
  EXPECT_EQ(row().version, granted_);
}

TEST_F(PostgresRace, AFailureIsNotCountedForWhoHasTheRowMeanwhile) {
  open_work counting;
  detail::count_failures(counting.work, key_, table());
  counting.work.commit();
  EXPECT_EQ(row().failure_count, 0);
}

}  // namespace
}  // namespace rowlock::tests
