// Transactions on a session of SOCI on a SQLite file.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "rowlock/lock_table.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/soci.hpp"
#include "soci/soci_sqlite_files.hpp"
#include "support/forked_child.hpp"

namespace rowlock::tests {
namespace {

using complaints = std::vector<std::string>;

class SociSqliteTransaction : public migrated_soci_sqlite_test {
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

TEST_F(SociSqliteTransaction, IsTheFilesWriterAndHasItsTurnToItsEnd) {
  const auto used = session();
  soci_transaction work{*used};
  EXPECT_TRUE(is_queue_taken());
  EXPECT_THROW((void)rival_writer(), SQLite::Exception);
  work.commit();
  EXPECT_FALSE(is_queue_taken());
  EXPECT_NO_THROW((void)rival_writer());
}

TEST_F(SociSqliteTransaction, ThatCannotBeginInTimeIsUnavailable) {
  const auto rival = rival_writer();
  const auto used = session();
  EXPECT_EQ(error_of([&] { const soci_transaction work{*used, 5ms}; }).kind(), errc::unavailable);
}

TEST_F(SociSqliteTransaction, ThatFencedWorkHasIsNotCommittedByIt) {
  soci_store rows{url()};
  lock_table locks{rows, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(key_);
  const auto used = session();
  const auto caught = error_of([&] {
    run_fenced<soci_transaction>(*used, held, [](soci_transaction& work) {
      work.session() << "CREATE TABLE made (number)";
      work.commit();
    });
  });
  EXPECT_EQ(caught.kind(), errc::misuse);
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_master WHERE name = 'made'"), "0");
}

TEST_F(SociSqliteTransaction, ThatACallbackHasIsNotCommittedByIt) {
  const auto used = session();
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(*used, key_, no_wait(), [&](soci_transaction& work) {
      work.session() << "update " + std::string{"shared_lock"} + " set expiry_count = 7";
      work.commit();
    });
  });
  EXPECT_EQ(caught.kind(), errc::misuse);
  const auto done =
      with_row_lock<soci_transaction>(*used, key_, no_wait(), [&](soci_transaction& work) {
        work.session() << "update " + std::string{"shared_lock"} + " set expiry_count = 7";
        work.abort();
        return 7;
      });
  ASSERT_TRUE(done.acquired());
  EXPECT_EQ(*done, 7);
  EXPECT_EQ(text_of("SELECT max(expiry_count) FROM shared_lock"), "0");
}

TEST_F(SociSqliteTransaction, ThatAStatementOfTheCallbackCommitsIsMisuse) {
  const auto used = session();
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(
        *used, key_, [&](soci_transaction& work) { work.session() << "COMMIT"; });
  });
  EXPECT_EQ(caught.kind(), errc::misuse);
}

TEST_F(SociSqliteTransaction, ThatAnErrorRolledBackIsMisuseThoughTheCallbackSwallowedIt) {
  const auto used = session();
  *used << "CREATE TABLE made (number UNIQUE ON CONFLICT ROLLBACK)";
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(*used, key_, [](soci_transaction& work) {
      work.session() << "INSERT INTO made VALUES (1)";
      EXPECT_THROW(work.session() << "INSERT INTO made VALUES (1)", soci::soci_error);
    });
  });
  EXPECT_EQ(caught.kind(), errc::misuse);
  EXPECT_NE(std::string{caught.what()}.find("nothing of it is kept"), std::string::npos)
      << caught.what();
  EXPECT_EQ(text_of("SELECT count(*) FROM made"), "0");
}

TEST_F(SociSqliteTransaction, InsideAnotherIsMisuse) {
  const auto used = session();
  soci_transaction outer{*used};
  EXPECT_EQ(error_of([&] { const soci_transaction inner{*used}; }).kind(), errc::misuse);
}

TEST_F(SociSqliteTransaction, OfTheApplicationsOwnIsTooLateToLockOrFenceWhenDeferred) {
  soci_store rows{url()};
  lock_table locks{rows};
  const auto held = locks.try_acquire(other_key_);
  const auto used = session();
  EXPECT_EQ(error_of([&] { (void)lock_rows(*used, key_, no_wait()); }).kind(), errc::misuse);
  used->begin();
  EXPECT_EQ(error_of([&] { (void)lock_rows(*used, key_, no_wait()); }).kind(), errc::misuse);
  EXPECT_EQ(error_of([&] { fence(*used, *held); }).kind(), errc::misuse);
  EXPECT_EQ(error_of([&] { release_with(*used, *held); }).kind(), errc::misuse);
  // An optimistic commit may be deferred.
  const auto seen = read_version(*used, key_);
  ASSERT_TRUE(seen.acquired());
  EXPECT_EQ(try_commit(*used, key_, *seen), commit_result::committed);
  used->rollback();
}

TEST_F(SociSqliteTransaction, DoesNotWaitInsideForALease) {
  soci_store rows{url()};
  acquire(rows);
  const auto used = session();
  soci_transaction work{*used};
  EXPECT_EQ(lock_rows(work, key_, wait_for(1h)).refusal().reason, refusal_reason::held);
  EXPECT_EQ(lock_rows(*used, key_, wait_for(1h)).refusal().reason, refusal_reason::held);
}

TEST_F(SociSqliteTransaction, IgnoresTheApplicationsBusyTimeoutAndPutsItBack) {
  const auto used = session();
  int timeout = 0;
  *used << "PRAGMA busy_timeout = 3600000", soci::into(timeout);  // would hang, if it waited
  {
    const auto rival = rival_writer();
    EXPECT_EQ(with_row_lock<soci_transaction>(*used, key_, no_wait(), [](soci_transaction&) {})
                  .refusal()
                  .reason,
              refusal_reason::busy);
  }
  timeout = 0;
  *used << "PRAGMA busy_timeout", soci::into(timeout);
  EXPECT_EQ(timeout, 3'600'000);
}

TEST_F(SociSqliteTransaction, WhoseCommitIsRefusedIsAnErrorWithoutSqlAndRollsBack) {
  const auto used = session();
  *used << "PRAGMA foreign_keys = ON";
  *used << "CREATE TABLE account (id INTEGER PRIMARY KEY)";
  *used << "CREATE TABLE entry (account REFERENCES account DEFERRABLE INITIALLY DEFERRED)";
  const auto thrown = error_of([&] {
    (void)with_row_lock<soci_transaction>(*used, key_, no_wait(), [](soci_transaction& work) {
      work.session() << "INSERT INTO entry VALUES (1)";
    });
  });
  EXPECT_EQ(thrown.kind(), errc::misuse);
  EXPECT_TRUE(says(thrown, "FOREIGN KEY"));
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "0");
}

TEST_F(SociSqliteTransaction, ThatAFenceHasEndedCannotCommit) {
  soci_store rows{url()};
  lock_table locks{rows};
  auto held = locks.try_acquire(key_);
  const auto used = session();
  soci_transaction work{*used};
  *used << "UPDATE shared_lock SET version = version + 1";
  EXPECT_THROW(fence(*used, *held), lease_lost);
  EXPECT_EQ(error_of([&] { work.commit(); }).kind(), errc::misuse);
}

TEST_F(SociSqliteTransaction, MetByAnotherIsAConflictThatIsRunAgain) {
  const auto used = session();
  { const soci_transaction first{*used}; }  // from here on the conflicts of the driver are known
  auto rival = rival_writer();
  int runs = 0;
  const auto answer = retry({.attempts = 3, .first_pause = 1ms}, [&]() -> outcome<int> {
    if (++runs == 2) rival.reset();
    *used << "DELETE FROM shared_lock";  // the application's own
    return runs;
  });
  EXPECT_EQ(*answer, 2);
}

TEST_F(SociSqliteTransaction, OfAParentIsLeftAloneByItsChild) {
  const auto used = session();
  std::string mode;
  *used << "PRAGMA journal_mode = DELETE", soci::into(mode);  // a journal that a rollback deletes
  std::optional<soci_transaction> work{std::in_place, *used};
  EXPECT_TRUE(lock_rows(*work, key_, no_wait()).acquired());
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

TEST_F(SociSqliteTransaction, OnAFileThatItsParentHasOpenIsRefusedToAChild) {
  const auto used = session();
  soci_transaction{*used}.commit();
  const auto wrong = complaints_of_child([&](complaints& said) {
    const auto refuses = [&](const std::string& name, const auto& call) {
      try {
        call();
        said.push_back(name + " did not throw");
      } catch (const error& thrown) {
        if (thrown.kind() != errc::misuse || !says(thrown, "open the file after the fork() only")) {
          said.push_back(name + ": " + thrown.what());
        }
      }
    };
    refuses("a store", [&] {
      soci_store own{url()};
      acquire(own);
    });
    refuses("a pool", [&] {
      const auto pool = pool_on(path());
      soci_store own{*pool, {.pool_size = 1}};
      acquire(own);
    });
    refuses("migrate", [&] { (void)migrate_soci(url()); });
    refuses("the parent's session", [&] { const soci_transaction work{*used}; });
    const auto own = session();
    refuses("a session", [&] { const soci_transaction work{*own}; });
    refuses("with_row_lock", [&] {
      (void)with_row_lock<soci_transaction>(*own, key_, no_wait(), [](soci_transaction&) {});
    });
  });
  EXPECT_EQ(wrong, complaints{});
  EXPECT_NO_THROW(soci_transaction{*used}.commit());
}

// The application's pool keeps the file open after the store that used it.
TEST_F(SociSqliteTransaction, OfAChildNeedsTheParentsPoolToBeClosed) {
  auto pool = pool_on(path());
  {
    soci_store rows{*pool, {.pool_size = 1}};
    acquire(rows);
  }
  const auto kinds = [&] {
    return complaints_of_child([&](complaints& said) {
      try {
        soci_store own{url()};
        (void)own.list();
      } catch (const error& thrown) {
        said.emplace_back(thrown.kind() == errc::misuse ? "misuse" : thrown.what());
      }
    });
  };
  EXPECT_EQ(kinds(), complaints{"misuse"});
  pool.reset();
  EXPECT_EQ(kinds(), complaints{});
}

}  // namespace
}  // namespace rowlock::tests
