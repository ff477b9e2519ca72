// Row locks in transactions of the application, where MariaDB has its own ways.
#include <atomic>

#include "mysql/mysql_table.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class MysqlRowLock : public mysql_test {
 protected:
  MysqlRowLock() { database_.execute("create table note (text varchar(100)) engine = InnoDB"); }
};

TEST_F(MysqlRowLock, AboveReadCommittedIsMisuseThatSaysWhatToDo) {
  const auto session = connect();
  session->begin();
  const auto caught = error_of([&] { (void)lock_rows(*session, key_, no_wait()); });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("READ COMMITTED"), std::string::npos) << caught.message();
  session->rollback();

  *session << "set session transaction isolation level read committed";
  session->begin();
  EXPECT_TRUE(lock_rows(*session, key_, no_wait()).acquired());
}

// At REPEATABLE READ it would: that is why it is misuse there.
TEST_F(MysqlRowLock, RefusedLeavesTheHoldersRowAloneAlsoInATransactionThatHasWritten) {
  const auto held = acquire(rows_, key_);
  create(other_key_);
  const auto session = connect();
  soci_transaction work{*session};
  *session << "insert into note values ('before')";
  EXPECT_EQ(lock_rows(work, key_, no_wait()).refusal().reason, refusal_reason::held);
  EXPECT_EQ(lock_rows(work, {key_, other_key_}, no_wait()).refusal().reason, refusal_reason::held);
  EXPECT_EQ(renew(rows_, key_, *held.version), change_answer::done);
  EXPECT_EQ(acquire(rows_, other_key_).status, acquire_status::granted);
  EXPECT_EQ(release(rows_, key_, *held.version), change_answer::done);
}

TEST_F(MysqlRowLock, LeavesTheSettingsOfTheSessionAsTheyAre) {
  const auto session = connect();
  *session << "set innodb_lock_wait_timeout = 7, sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'";
  soci_transaction work{*session};
  ASSERT_TRUE(lock_rows(work, {key_, {"a", "\"'\\;%$1:x"}}, no_wait()).acquired());
  work.commit();
  EXPECT_EQ(setting(*session, "innodb_lock_wait_timeout"), "7");
  EXPECT_EQ(setting(*session, "sql_mode"), "ANSI_QUOTES,NO_BACKSLASH_ESCAPES");
  EXPECT_EQ(setting(*session, "tx_isolation"), "REPEATABLE-READ");
}

TEST_F(MysqlRowLock, IsOfTheSameRowWhateverTheCharacterSetOfTheSession) {
  const lock_key accented{"invoice", "\u00e4\u6f22\U0001F512"};
  const auto session = connect();
  for (const auto* name : {"latin1", "utf8mb4", "gbk", "sjis"}) {
    *session << "set names " << name;
    soci_transaction work{*session};
    ASSERT_TRUE(lock_rows(work, accented, no_wait()).acquired());
    work.commit();
  }
  EXPECT_EQ(number("select count(*) from shared_lock"), 1);
  EXPECT_TRUE(rows_.read(std::array{accented}).front());
}

TEST_F(MysqlRowLock, DoesNotWaitInTheServer) {
  create(key_);
  const auto stranger = connect();
  soci_transaction theirs{*stranger};
  ASSERT_TRUE(lock_rows(theirs, key_, no_wait()).acquired());
  const auto session = connect();
  soci_transaction work{*session};
  const auto before = number(
      "select variable_value from information_schema.global_status where "
      "variable_name = 'Innodb_row_lock_waits'");
  EXPECT_EQ(lock_rows(work, key_, wait_for(50ms)).refusal().reason, refusal_reason::timed_out);
  EXPECT_LE(before, number("select variable_value from information_schema.global_status where "
                           "variable_name = 'Innodb_row_lock_waits'"));
  theirs.commit();
  EXPECT_TRUE(lock_rows(work, key_, no_wait()).acquired());
}

TEST_F(MysqlRowLock, OfATransactionThatADeadlockEndedIsMisuse) {
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_ANY_THROW(*session << "signal sqlstate '40001' set mysql_errno = 1213");
  const auto caught = error_of([&] { (void)lock_rows(work, key_, no_wait()); });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("deadlock"), std::string::npos) << caught.message();
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::misuse);
}

// The row is granted after the transaction has seen that it is free, and before it locks it: when
// the answer of its first read is on its way.
class MysqlRowLockThatIsOvertaken : public MysqlRowLock {
 protected:
  MysqlRowLockThatIsOvertaken() {
    proxy_.edit_replies([this](std::string reply) {
      if (reply.find("isolation") != std::string::npos && !is_granted_.exchange(true)) {
        granted_ = *acquire(rows_, key_).version;
      }
      return reply;
    });
  }

  std::unique_ptr<::soci::session> overtaken() {
    return std::make_unique<::soci::session>(target_at(proxy_.port()));
  }
  void expect_that_its_holder_can_end_it() {
    EXPECT_TRUE(is_granted_);
    EXPECT_EQ(renew(rows_, key_, granted_), change_answer::done);
    EXPECT_EQ(release(rows_, key_, granted_), change_answer::done);
  }

  // Before the row in the order of locking.
  const lock_key first_{.type = "invoice", .source_id = "1"};
  std::atomic<bool> is_granted_ = false;
  version granted_{};
  tcp_proxy proxy_{"127.0.0.1", server_port()};
};

TEST_F(MysqlRowLockThatIsOvertaken, KeepsNoRowLocked) {
  create(first_);
  create(key_);
  const auto session = overtaken();
  soci_transaction work{*session};
  const auto refused = lock_rows(work, {first_, key_}, no_wait());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  expect_that_its_holder_can_end_it();
  EXPECT_EQ(acquire(rows_, first_).status, acquire_status::granted);
}

TEST_F(MysqlRowLockThatIsOvertaken, KeepsNoHeldRowLockedWhenTheTransactionHasWritten) {
  create(first_);
  create(key_);
  const auto session = overtaken();
  soci_transaction work{*session};
  *session << "insert into note values ('before')";
  EXPECT_EQ(lock_rows(work, {first_, key_}, no_wait()).refusal().reason, refusal_reason::held);
  expect_that_its_holder_can_end_it();
  work.commit();
  EXPECT_EQ(number("select count(*) from note"), 1);
  EXPECT_EQ(number("select count(*) from shared_lock where ended_as = 'locked'"), 0);
}

TEST_F(MysqlRowLockThatIsOvertaken, OfOneKeyKeepsItNotLocked) {
  create(key_);
  const auto session = overtaken();
  soci_transaction work{*session};
  EXPECT_EQ(lock_rows(work, key_, no_wait()).refusal().reason, refusal_reason::held);
  expect_that_its_holder_can_end_it();
}

TEST_F(MysqlRowLockThatIsOvertaken, OfARowToCommitAgainstKeepsItNotLocked) {
  acquire(rows_, key_);
  run_out(key_);
  const auto session = overtaken();
  soci_transaction work{*session};
  EXPECT_FALSE(read_version(*session, key_).acquired());
  expect_that_its_holder_can_end_it();
}

TEST_F(MysqlRowLock, OfARowThatHasMovedOnCommitsNothingAndKeepsItNotLocked) {
  create(key_);
  const auto session = connect();
  soci_transaction work{*session};
  const auto seen = *read_version(*session, key_);
  const auto held = acquire(rows_, key_);
  EXPECT_EQ(try_commit(*session, key_, seen), commit_result::stale);
  EXPECT_EQ(renew(rows_, key_, *held.version), change_answer::done);
  EXPECT_EQ(release(rows_, key_, *held.version), change_answer::done);
}

}  // namespace
}  // namespace rowlock::tests
