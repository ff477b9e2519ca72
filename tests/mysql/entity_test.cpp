// Locks and versions of the application's own rows on MariaDB.
#include <cstdint>
#include <future>
#include <limits>
#include <string>

#include "mysql/mysql_table.hpp"

namespace rowlock::tests {
namespace {

class MysqlEntity : public mysql_test {
 protected:
  MysqlEntity() {
    database_.execute(
        "create table person (id bigint primary key, coarse datetime, "
        "fine timestamp(6) default '2001-02-03 04:05:06.000007') engine = InnoDB;"
        "insert into person (id, coarse) values (1, '2100-01-01'), (2, '2100-01-01')");
  }
  [[nodiscard]] static versioned_table times(const std::string& column) {
    return {.table = "person",
            .id_column = "id",
            .version_column = column,
            .version_is = version_kind::timestamp};
  }
  const entity_table people_{.table = "person", .id_column = "id"};
};

TEST_F(MysqlEntity, WithoutATransactionIsMisuse) {
  const auto session = connect();
  EXPECT_EQ(error_of([&] { (void)lock_entity(*session, people_, 1, no_wait()); }).kind,
            errc::misuse);
  EXPECT_EQ(error_of([&] { (void)read_version(*session, times("fine"), 1); }).kind, errc::misuse);
}

// Otherwise the server would compare it as the number 0 or 7.
TEST_F(MysqlEntity, OfATextThatIsNoNumberIsMissing) {
  database_.execute("insert into person (id) values (0), (7)");
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(lock_entity(*session, people_, "x", no_wait()).refusal().reason,
            refusal_reason::missing);
  EXPECT_EQ(lock_entity(*session, people_, "7x", no_wait()).refusal().reason,
            refusal_reason::missing);
  EXPECT_TRUE(lock_entity(*session, people_, "7", no_wait()).acquired());
}

TEST_F(MysqlEntity, OfATimeWithoutMicrosecondsIsRejected) {
  const auto session = connect();
  soci_transaction work{*session};
  const auto coarse = times("coarse");
  const auto seen = *read_version(*session, coarse, 1);
  const auto caught = error_of([&] { (void)try_commit(*session, coarse, 1, seen); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("does not have the version that was written"), std::string::npos);
}

TEST_F(MysqlEntity, OfATableWithoutTransactionsIsRejected) {
  database_.execute(
      "create table plain (id int primary key, version int, changed_at datetime(6)) "
      "engine = MyISAM; insert into plain values (1, 1, now(6))");
  const auto session = connect();
  const std::string named = database_.value("select database()") + ".plain";
  soci_transaction work{*session};
  for (const auto& table : {std::string{"plain"}, named}) {
    const auto caught = error_of(
        [&] { (void)lock_entity(*session, {.table = table, .id_column = "id"}, 1, no_wait()); });
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("InnoDB (MyISAM)"), std::string::npos) << caught.message();
    for (const auto& versions :
         {versioned_table{table, "id", "version"},
          versioned_table{table, "id", "changed_at", version_kind::timestamp}}) {
      EXPECT_EQ(error_of([&] { (void)read_version(*session, versions, 1); }).kind, errc::rejected);
    }
    const versioned_table versions{table, "id", "version"};
    EXPECT_EQ(error_of([&] { (void)try_commit(*session, versions, 1, 1); }).kind, errc::rejected);
    database_.execute("update plain set version = 1");
  }
}

TEST_F(MysqlEntity, IsFoundByANumberInAColumnOfAnyTypeThatContainsIt) {
  database_.execute(
      "create table item (id int primary key, filled int(5) zerofill, money decimal(10, 2), "
      "big bigint unsigned, code varchar(30), bytes varbinary(30)) engine = InnoDB;"
      "insert into item values (1, 42, 42.00, 18446744073709551615, '42', '42'),"
      "(2, 43, 42.50, 9007199254740993, '042', '042'), (3, 44, 0, 9007199254740992, '42x', 'x')");
  const auto session = connect();
  soci_transaction work{*session};
  const auto has = [&](const std::string& column, const row_id& id) {
    return lock_entity(*session, {.table = "item", .id_column = column}, id, no_wait()).acquired();
  };
  for (const auto* column : {"filled", "money", "code", "bytes"}) {
    EXPECT_TRUE(has(column, 42)) << column;
    EXPECT_TRUE(has(column, "42")) << column;
    EXPECT_FALSE(has(column, 41)) << column;
    EXPECT_FALSE(has(column, "42y")) << column;
  }
  EXPECT_TRUE(has("money", "42.50"));
  EXPECT_TRUE(has("big", std::numeric_limits<std::uint64_t>::max()));
  EXPECT_TRUE(has("big", 9007199254740993));
  EXPECT_FALSE(has("big", 9007199254740994)) << "numbers are not compared as doubles";
}

TEST_F(MysqlEntity, OfAViewIsRejected) {
  database_.execute("create algorithm = temptable view seen_person as select * from person");
  const auto session = connect();
  soci_transaction work{*session};
  const entity_table view{.table = "seen_person", .id_column = "id"};
  EXPECT_EQ(error_of([&] { (void)lock_entity(*session, view, 1, no_wait()); }).kind,
            errc::rejected);
}

TEST_F(MysqlEntity, IsFoundByATextWhateverTheCollationOfTheConnection) {
  database_.execute(
      "create table item (id int primary key, kind enum('20', '10'), money decimal(10, 2)) "
      "engine = InnoDB; insert into item values (1, '10', 42.50), (2, '20', 0)");
  for (const auto* collation : {"utf8mb4_unicode_ci", "utf8mb4_general_ci", "utf8mb4_bin"}) {
    const auto session = connect();
    *session << "set names utf8mb4 collate " << collation;
    soci_transaction work{*session};
    const auto has = [&](const std::string& column, const row_id& id) {
      return lock_entity(*session, {.table = "item", .id_column = column}, id, no_wait())
          .acquired();
    };
    EXPECT_TRUE(has("money", "42.50"));
    EXPECT_FALSE(has("id", "x"));
    EXPECT_TRUE(has("kind", 10)) << "by its text, not by its place in the list";
    EXPECT_FALSE(has("kind", 1));
  }
}

TEST_F(MysqlEntity, OfAVersionThatItsColumnClipsIsRejected) {
  database_.execute(
      "create table small (id int primary key, version tinyint not null) engine = InnoDB;"
      "insert into small values (1, 127)");
  const auto session = connect();
  *session << "set sql_mode = ''";
  soci_transaction work{*session};
  EXPECT_EQ(error_of([&] {
              (void)try_commit(*session, {"small", "id", "version"}, 1, 127);
            }).kind,
            errc::rejected);
}

TEST_F(MysqlEntity, OfAVersionThatIsNoInt64IsRejected) {
  database_.execute(
      "create table versions (id int primary key, text varchar(20), money decimal(10, 2), "
      "big bigint unsigned) engine = InnoDB;"
      "insert into versions values (1, '12abc', 1.50, 18446744073709551615)");
  const auto session = connect();
  soci_transaction work{*session};
  for (const auto* column : {"text", "money", "big"}) {
    const auto read = [&] { (void)read_version(*session, {"versions", "id", column}, 1); };
    EXPECT_EQ(error_of(read).kind, errc::rejected) << column;
  }
}

TEST_F(MysqlEntity, OfATimeThatNoneCouldFollowIsMisuse) {
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(error_of([&] {
              (void)try_commit(*session, times("coarse"), 1, 253'402'300'799'999'999);
            }).kind,
            errc::misuse);
}

TEST_F(MysqlEntity, WaitsInTheServersQueueUntilTheTransactionInTheWayEnds) {
  const auto rival = connect();
  soci_transaction first{*rival};
  ASSERT_TRUE(lock_entity(*rival, people_, 1, no_wait()).acquired());
  const auto session = connect();
  long long id = 0;
  *session << "select connection_id()", ::soci::into(id);
  // Its statement is there, and cannot end. (InnoDB's own tables of waits are cached for as long as
  // they are read.)
  const auto is_waiting = [&] {
    return number(
               "select count(*) from information_schema.processlist where command = 'Query' "
               "and info like '%FOR UPDATE WAIT%' and id = " +
               std::to_string(id)) == 1;
  };
  soci_transaction work{*session};
  auto waiting = std::async(std::launch::async, [&] {
    return lock_entity(*session, people_, 1, wait_for(patience)).acquired();
  });
  EXPECT_TRUE(comes(is_waiting));
  first.commit();
  EXPECT_TRUE(waiting.get());
}

TEST_F(MysqlEntity, BehindALockOfItsTableIsRefusedInTime) {
  const auto rival = connect();
  *rival << "lock tables person write";
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(lock_entity(*session, people_, 1, no_wait()).refusal().reason, refusal_reason::busy);
  *rival << "unlock tables";
  EXPECT_TRUE(lock_entity(*session, people_, 1, no_wait()).acquired());
}

TEST_F(MysqlEntity, OfATimestampMovesInAnyZone) {
  for (const auto* zone : {"+00:00", "+11:00", "-08:00"}) {
    const auto session = connect();
    *session << "set time_zone = '" << zone << "'";
    soci_transaction work{*session};
    const auto fine = times("fine");
    const auto seen = *read_version(*session, fine, 1);
    EXPECT_EQ(try_commit(*session, fine, 1, seen), commit_result::committed);
    EXPECT_EQ(try_commit(*session, fine, 1, seen), commit_result::stale);
    EXPECT_GT(*read_version(*session, fine, 1), seen);
    work.commit();
  }
  EXPECT_EQ(number("select abs(timestampdiff(hour, fine, now(6))) from person where id = 1"), 0);
}

// The server rolls the whole transaction back.
TEST_F(MysqlEntity, InADeadlockIsRefusedAsSuchAndTheTransactionIsOver) {
  const auto alone = alone_with_deadlocks();
  const auto one = connect();
  const auto other = connect();
  soci_transaction first{*one};
  soci_transaction second{*other};
  ASSERT_TRUE(lock_entity(*one, people_, 1, no_wait()).acquired());
  ASSERT_TRUE(lock_entity(*other, people_, 2, no_wait()).acquired());
  auto waiting = std::async(std::launch::async,
                            [&] { return lock_entity(*one, people_, 2, wait_for(patience)); });
  const auto crossing = lock_entity(*other, people_, 1, wait_for(patience));
  if (!crossing.acquired()) {
    EXPECT_EQ(crossing.refusal().reason, refusal_reason::deadlock);
    EXPECT_TRUE(waiting.get().acquired());
    EXPECT_EQ(error_of([&] { second.commit(); }).kind, errc::misuse);
  } else {
    EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::deadlock);
    EXPECT_EQ(error_of([&] { first.commit(); }).kind, errc::misuse);
  }
}

}  // namespace
}  // namespace rowlock::tests
