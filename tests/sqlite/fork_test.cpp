// A child of fork() and the file of its parent.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "rowlock/lock_table.hpp"
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

  /// `call` is misuse, and says what to do instead.
  template <class Call>
  static void expect_refused(complaints& wrong, const std::string& name, const Call& call) {
    try {
      call();
      wrong.push_back(name + " did not throw");
    } catch (const error& thrown) {
      const std::string words = thrown.what();
      const bool says_so = words.find("open the file after the fork() only") != std::string::npos;
      if (thrown.kind() != errc::misuse || !says_so) wrong.push_back(name + ": " + words);
    }
  }
  void expect_store_refused(complaints& wrong, const std::string& name) const {
    expect_refused(wrong, name, [&] {
      sqlite_store own{name};
      acquire(own);
    });
  }

  /// Another program opens the file, writes, and closes it, which deletes the -wal if no other
  /// process has a lock on the file.
  void let_another_process_write() const {
    const auto command =
        std::string{ROWLOCK_SQLITE_WRITER} + " '" + path() + "' leases 1 </dev/null >/dev/null";
    if (std::system(command.c_str()) != 0) throw std::runtime_error{"the writer failed"};
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

TEST_F(SqliteFork, RefusesAChildTheFileThatItsParentHasOpen) {
  sqlite_store parents{path()};
  acquire(parents);
  std::filesystem::create_symlink(path(), path("symlink.db"));
  std::filesystem::create_hard_link(path(), path("hard-link.db"));
  const auto wrong = complaints_of_child([&](complaints& said) {
    for (const auto* const name : {"locks.db", "symlink.db", "hard-link.db"}) {
      expect_store_refused(said, path(name));
    }
    expect_refused(said, "list", [&] { (void)sqlite_store{path()}.list(); });
    expect_refused(said, "a factory", [&] {
      sqlite_store own{[&] { return open(); }};
      acquire(own);
    });
    expect_refused(said, "migrate", [&] { (void)migrate_sqlite(path()); });
    const auto database = open();
    expect_refused(said, "a transaction", [&] { const sqlite_transaction work{*database}; });
    expect_refused(said, "with_row_lock", [&] {
      (void)with_row_lock<sqlite_transaction>(*database, key_, no_wait(),
                                              [](sqlite_transaction&) {});
    });
    database->exec("BEGIN IMMEDIATE");
    expect_refused(said, "lock_rows", [&] { (void)lock_rows(*database, key_, no_wait()); });
    expect_refused(said, "read_version", [&] { (void)read_version(*database, key_); });
  });
  EXPECT_EQ(wrong, complaints{});
}

TEST_F(SqliteFork, RefusesAChildTheFileOfItsParentsTransactions) {
  const auto database = open();
  sqlite_transaction{*database}.commit();
  const auto wrong = complaints_of_child([&](complaints& said) {
    expect_refused(said, "the parent's connection",
                   [&] { const sqlite_transaction work{*database}; });
    expect_store_refused(said, path());
  });
  EXPECT_EQ(wrong, complaints{});
  EXPECT_NO_THROW(sqlite_transaction{*database}.commit());
}

TEST_F(SqliteFork, RefusesAChildTheFileThatItsParentAttachedLater) {
  const auto database = open();
  sqlite_transaction{*database}.commit();
  migrate_sqlite(path("other.db"));
  database->exec("ATTACH '" + path("other.db") + "' AS other");
  sqlite_transaction{*database}.commit();
  const auto wrong =
      complaints_of_child([&](complaints& said) { expect_store_refused(said, path("other.db")); });
  EXPECT_EQ(wrong, complaints{});
}

TEST_F(SqliteFork, RefusesAGrandchildWhatAChildHasOpen) {
  const auto wrong = complaints_of_child([&](complaints& said) {
    sqlite_store own{path()};
    acquire(own);
    for (const auto& each :
         complaints_of_child([&](complaints& also) { expect_store_refused(also, path()); })) {
      said.push_back("grandchild: " + each);
    }
  });
  EXPECT_EQ(wrong, complaints{});
}

// As of a program that becomes a daemon: its parent has used the file, and closed it.
TEST_F(SqliteFork, LeavesAChildTheFileThatItsParentHasClosed) {
  {
    sqlite_store parents{path()};
    acquire(parents);
    const auto database = open();
    sqlite_transaction{*database}.commit();
  }
  const auto wrong = complaints_of_child([&](complaints& said) {
    sqlite_store own{path()};
    const auto granted = own.acquire(std::array{request(other_key_)}).front();
    if (granted.status != acquire_status::granted) said.emplace_back("not granted");
    let_another_process_write();
    if (!std::filesystem::exists(path() + "-wal")) said.emplace_back("the -wal is gone");
    const auto database = open();
    sqlite_transaction{*database}.commit();
  });
  EXPECT_EQ(wrong, complaints{});
  sqlite_store rows{path()};
  EXPECT_TRUE(rows.read(std::array{other_key_}).front().value().is_live());
}

TEST_F(SqliteFork, LeavesAChildAnotherFile) {
  sqlite_store parents{path()};
  acquire(parents);
  const auto wrong = complaints_of_child([&](complaints& said) {
    migrate_sqlite(path("other.db"));
    sqlite_store own{path("other.db")};
    if (acquire(own).status != acquire_status::granted) said.emplace_back("not granted");
  });
  EXPECT_EQ(wrong, complaints{});
}

// The child has the mutexes of SQLite in whatever state the other threads had them.
TEST_F(SqliteFork, RefusesAChildAtOnceWhileThreadsOfItsParentWork) {
  sqlite_store parents{path()};
  lock_table locks{parents, {.ttl = 1h}};
  std::vector<std::jthread> threads;  // which end with the test
  for (int thread = 0; thread < 3; ++thread) {
    const lock_key own{"thread", std::to_string(thread)};
    threads.emplace_back([&locks, own](const std::stop_token& stop) {
      while (!stop.stop_requested()) (void)locks.with_lock(own, [] {});
    });
  }
  // Until the first child is made, the file is open.
  (void)locks.with_lock(key_, [] {});
  complaints wrong;
  for (int i = 0; i < 20 && wrong.empty(); ++i) {
    wrong = complaints_of_child([&](complaints& said) { expect_store_refused(said, path()); });
  }
  threads.clear();
  EXPECT_EQ(wrong, complaints{});
}

}  // namespace
}  // namespace rowlock::tests
