// A child of fork() and the file of its parent.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"
#include "support/forked_child.hpp"

namespace rowlock::tests {
namespace {

using complaints = std::vector<std::string>;

class SqliteFork : public migrated_sqlite_test {
 protected:
  /// Whether a writer has a place in the queue.
  [[nodiscard]] bool is_queue_taken() const {
    const int queue = ::open((path() + "-rowlock").c_str(), O_RDWR | O_CLOEXEC);
    struct flock any {};
    any.l_type = F_WRLCK;
    fcntl(queue, F_OFD_GETLK, &any);
    close(queue);
    return any.l_type != F_UNLCK;
  }
};

TEST_F(SqliteFork, LeavesTheParentsTransactionAndItsTurn) {
  const auto database = open();
  database->exec("PRAGMA journal_mode = DELETE");  // a journal that a rollback would delete
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

  EXPECT_TRUE(std::filesystem::exists(path() + "-journal"));
  EXPECT_TRUE(is_queue_taken());
  work->commit();
  EXPECT_FALSE(is_queue_taken());
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "1");
}

}  // namespace
}  // namespace rowlock::tests
