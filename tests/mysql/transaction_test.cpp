// Transactions and optimistic commits on MariaDB.
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "mysql/mysql_table.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class MysqlTransaction : public mysql_test {
 protected:
  MysqlTransaction() {
    database_.execute(
        "create table orders (id varchar(20) primary key, version int not null) engine = InnoDB;"
        "create table numbered (id bigint primary key, version int not null) engine = InnoDB");
  }
  const versioned_table orders_{.table = "orders", .id_column = "id", .version_column = "version"};
  const versioned_table numbered_{
      .table = "numbered", .id_column = "id", .version_column = "version"};
};

TEST_F(MysqlTransaction, InAnOpenOneIsMisuse) {
  const auto session = connect();
  session->begin();
  EXPECT_EQ(error_of([&] { soci_transaction{*session}; }).kind, errc::misuse);
}

TEST_F(MysqlTransaction, IsReadCommittedAndTheNextOneIsNot) {
  const auto session = connect();
  const auto sees_what_others_commit = [&] {
    const auto count = [&] {
      int rows = 0;
      *session << "select count(*) from orders", ::soci::into(rows);
      return rows;
    };
    const int before = count();
    database_.execute("insert into orders values ('" + make_owner_id().text.substr(0, 20) +
                      "', 1)");
    return count() > before;
  };
  {
    soci_transaction work{*session};
    EXPECT_TRUE(sees_what_others_commit());
  }
  session->begin();
  EXPECT_FALSE(sees_what_others_commit());
}

TEST_F(MysqlTransaction, ThatAStatementOfTheCallbackCommitsIsMisuse) {
  create(key_);
  const auto session = connect();
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(
        *session, key_, [&](soci_transaction& work) { work.session() << "COMMIT"; });
  });
  EXPECT_EQ(caught.kind, errc::misuse);
}

TEST_F(MysqlTransaction, ThatACallbackHasIsNotCommittedByIt) {
  create(key_);
  const auto session = connect();
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(*session, key_, no_wait(), [&](soci_transaction& work) {
      work.session() << "update " + std::string{"shared_lock"} + " set fence_count = 7";
      work.commit();
    });
  });
  EXPECT_EQ(caught.kind, errc::misuse);
  const auto done =
      with_row_lock<soci_transaction>(*session, key_, no_wait(), [&](soci_transaction& work) {
        work.session() << "update " + std::string{"shared_lock"} + " set fence_count = 7";
        work.abort();
        return 7;
      });
  ASSERT_TRUE(done.acquired());
  EXPECT_EQ(*done, 7);
  EXPECT_EQ(number("select max(fence_count) from shared_lock"), 0);
}

// A deadlock ends the transaction, and what follows is executed in autocommit, or without it in
// another transaction. An error does not contain whether a transaction is open, so one after the
// deadlock must not hide it.
TEST_F(MysqlTransaction, ThatADeadlockEndedIsMisuseThoughTheCallbackSwallowedIt) {
  const auto alone = alone_with_deadlocks();
  database_.execute("insert into orders values ('a', 1), ('b', 1), ('taken', 1)");
  create(key_);
  const auto session = connect();
  const std::vector<std::function<void()>> afterwards{
      [] {}, [&] { *session << "update orders set version = 3 where id = 'a'"; },
      [&] {
        EXPECT_THROW(*session << "insert into orders values ('taken', 1)", ::soci::soci_error);
      },
      [&] { (void)lock_rows(*session, other_key_, no_wait()); }};
  const auto check = [&](const std::function<void()>& go_on) {
    const auto rival = connect();
    std::future<void> waiting;
    const auto swallow = [&](soci_transaction& work) {
      work.session() << "update orders set version = 2 where id = 'a'";
      // The server ends the transaction that has changed fewer rows, whichever waits first.
      rival->begin();
      *rival << "insert into numbered with recursive counted (n) as (select 1 union all "
                "select n + 1 from counted where n < 100) select n, 1 from counted";
      *rival << "update orders set version = 2 where id = 'b'";
      waiting = std::async(std::launch::async, [&] {
        *rival << "update orders set version = 2 where id = 'a'";
        rival->rollback();
      });
      EXPECT_THROW(work.session() << "update orders set version = 2 where id = 'b'",
                   ::soci::soci_error);
      waiting.get();
      go_on();
    };
    const auto caught = error_of(
        [&] { (void)with_row_lock<soci_transaction>(*session, key_, no_wait(), swallow); });
    EXPECT_EQ(caught.kind, errc::misuse);
  };
  for (const auto* autocommit : {"1", "0"}) {
    *session << "set autocommit = " << autocommit;
    for (const auto& go_on : afterwards) check(go_on);
  }
  *session << "set autocommit = 1";
  soci_transaction work{*session};
  work.commit();
}

TEST_F(MysqlTransaction, WithoutAutocommitIsCommitted) {
  create(key_);
  const auto session = connect();
  *session << "set autocommit = 0";
  const auto insert = [](soci_transaction& work) {
    work.session() << "insert into orders values ('a', 1)";
  };
  EXPECT_TRUE(with_row_lock<soci_transaction>(*session, key_, no_wait(), insert).acquired());
  EXPECT_EQ(number("select count(*) from orders"), 1);
}

TEST_F(MysqlTransaction, ThatIsReadOnlySaysThatItIsTheTransaction) {
  create(key_);
  const auto session = connect();
  *session << "set session transaction isolation level read committed";
  *session << "start transaction read only";
  const auto caught = error_of([&] { (void)lock_rows(*session, key_, no_wait()); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("the transaction is read-only"), std::string::npos)
      << caught.message();
}

// Keys are sent as numbers of bytes.
TEST_F(MysqlTransaction, WithAnotherCharacterSetMeansTheSameKeys) {
  lock_table locks{rows_, {.ttl = 1h, .renew = false}};
  const lock_key umlaut{"invoice", "M\u00fcller"};
  const lease held = *locks.try_acquire(umlaut);
  const auto session = connect();
  for (const auto* set : {"latin1", "sjis", "utf8mb4"}) {
    *session << "set names " << set;
    soci_transaction work{*session};
    EXPECT_EQ(lock_rows(work, umlaut, no_wait()).refusal().reason, refusal_reason::held) << set;
    EXPECT_EQ(read_version(*session, umlaut).refusal().reason, refusal_reason::held) << set;
    fence(*session, held);
  }
}

// Where a plain read locks rows.
TEST_F(MysqlTransaction, ThatIsSerializableDoesNotWaitForARowThatSomebodyHas) {
  lock_table locks{rows_, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(other_key_);
  create(key_);
  const auto rival = connect();
  rival->begin();
  *rival << "update shared_lock set fence_count = 1";

  const auto session = connect();
  *session << "set session transaction isolation level serializable";
  *session << "set innodb_lock_wait_timeout = 3600";
  session->begin();
  EXPECT_EQ(read_version(*session, key_).refusal().reason, refusal_reason::busy);
  EXPECT_EQ(lock_rows(*session, key_, no_wait()).refusal().reason, refusal_reason::busy);
  const auto caught = error_of([&] { fence(*session, held); });
  EXPECT_NE(caught.message().find("may still be held"), std::string::npos) << caught.message();
}

TEST_F(MysqlTransaction, LeavesALeaseThatRanOutToItsHolderAsLongAsItIsTold) {
  acquire(rows_, key_);
  run_out(key_);
  const auto session = connect();
  soci_transaction work{*session};
  const auto on_clocks_apart = [](std::chrono::milliseconds skew) {
    return soci_table{table_name{}, false, skew};
  };
  EXPECT_FALSE(lock_rows(work, key_, no_wait(), on_clocks_apart(30s)).acquired());
  EXPECT_FALSE(read_version(*session, key_, on_clocks_apart(30s)).acquired());
  EXPECT_EQ(error_of([&] { (void)read_version(*session, key_, on_clocks_apart(-1ms)); }).kind,
            errc::misuse);
  EXPECT_TRUE(lock_rows(work, key_, no_wait(), on_clocks_apart(0ms)).acquired());
}

TEST_F(MysqlTransaction, RolledBackByItsDestructorLeavesNothing) {
  const auto session = connect();
  {
    soci_transaction work{*session};
    *session << "insert into orders values ('x', 1)";
  }
  EXPECT_EQ(number("select count(*) from orders"), 0);
}

TEST_F(MysqlTransaction, EachCallWithoutOneIsMisuse) {
  const auto session = connect();
  EXPECT_EQ(error_of([&] { (void)lock_rows(*session, key_, no_wait()); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { (void)read_version(*session, key_); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { (void)try_commit(*session, key_, version{1}); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { (void)try_commit(*session, orders_, "x", 1); }).kind, errc::misuse);
}

// '7' and '07' are two rows, though a number would match both.
TEST_F(MysqlTransaction, ANumberNamesOneRowOfATableWithTextIds) {
  database_.execute("insert into orders values ('7', 1), ('07', 1), ('7x', 1)");
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(try_commit(*session, orders_, std::int64_t{7}, 1), commit_result::committed);
  work.commit();
  EXPECT_EQ(number("select sum(version) from orders"), 4);
}

TEST_F(MysqlTransaction, ALargeNumberNamesItsRow) {
  database_.execute("insert into numbered values (9007199254740993, 1), (9007199254740992, 1)");
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(try_commit(*session, numbered_, std::int64_t{9007199254740993}, 1),
            commit_result::committed);
  EXPECT_EQ(try_commit(*session, numbered_, "9007199254740993", 1), commit_result::stale);
  work.commit();
  EXPECT_EQ(number("select version from numbered where id = 9007199254740992"), 1);
}

TEST_F(MysqlTransaction, ATextThatIsNoNumberNamesNoRowOfATableWithNumbers) {
  database_.execute("insert into numbered values (0, 1), (7, 1)");
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(try_commit(*session, numbered_, "x", 1), commit_result::stale);
  EXPECT_EQ(try_commit(*session, numbered_, "7x", 1), commit_result::stale);
  EXPECT_EQ(try_commit(*session, numbered_, "7", 1), commit_result::committed);
  work.commit();
  EXPECT_EQ(number("select version from numbered where id = 0"), 1);
}

TEST_F(MysqlTransaction, OfAnUnknownColumnIsRejected) {
  const auto session = connect();
  soci_transaction work{*session};
  const versioned_table wrong{.table = "orders", .id_column = "none", .version_column = "version"};
  EXPECT_EQ(error_of([&] { (void)try_commit(*session, wrong, "x", 1); }).kind, errc::rejected);
}

TEST_F(MysqlTransaction, IsOverAtItsCommitWhateverTheSessionDoesAtOthers) {
  const auto session = connect();
  *session << "set completion_type = 1";
  {
    soci_transaction work{*session};
    work.commit();
  }
  EXPECT_NO_THROW(soci_transaction{*session}.commit());
}

TEST_F(MysqlTransaction, OfASessionThatWasClosedEndsQuietly) {
  const auto session = connect();
  soci_transaction work{*session};
  session->close();
}

TEST_F(MysqlTransaction, ThatCannotBeginLeavesNothingOfItBehind) {
  tcp_proxy proxy{"127.0.0.1", server_port()};
  ::soci::session session{target_at(proxy.port())};
  // Of the two replies, to SET TRANSACTION and to START TRANSACTION, the second says: killed.
  const std::string text = "#70100killed";
  const std::string killed{'\xff', '\x25', '\x05'};  // 1317
  const auto size = static_cast<char>(killed.size() + text.size());
  proxy.edit_replies([&, replies = 0](const std::string& said) mutable {
    return ++replies == 2 ? std::string{size, '\0', '\0', '\1'} + killed + text : said;
  });
  EXPECT_EQ(error_of([&] { const soci_transaction work{session}; }).kind, errc::unavailable);
  int is_in_one = -1;
  session << "select @@in_transaction", ::soci::into(is_in_one);
  EXPECT_EQ(is_in_one, 0);
}

}  // namespace
}  // namespace rowlock::tests
