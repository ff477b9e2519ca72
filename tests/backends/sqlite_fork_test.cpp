// A child of fork() and the file of its parent.
#include <optional>

#include "backends/sqlite_files.hpp"
#include "rowlock/sqlite.hpp"
#include "support/forked_child.hpp"

namespace rowlock::tests {
namespace {

using complaints = std::vector<std::string>;

class SqliteFork : public migrated_sqlite_test {};

TEST_F(SqliteFork, LeavesTheParentsTransactionAndItsTurn) {
  const auto database = open();
  std::optional<sqlite_transaction> work{std::in_place, *database};
  EXPECT_TRUE(lock_rows(*database, key_, no_wait()).acquired());
  const auto wrong = complaints_of_child([&](complaints& said) {
    try {
      work->commit();
      said.emplace_back("the child could commit");
    } catch (const error& thrown) {
      if (thrown.kind() != errc::misuse) said.emplace_back(thrown.what());
    }
    work.reset();
  });
  EXPECT_EQ(wrong, complaints{});

  // Who comes now has to wait for the turn of a transaction that is still open.
  sqlite_store impatient{path(), {.turn_timeout = 5ms}};
  EXPECT_EQ(impatient.acquire(std::array{request(other_key_)}).front().status,
            acquire_status::busy);
  work->commit();
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "1");
}

}  // namespace
}  // namespace rowlock::tests
