// Prepared statements of a store's sessions, on MariaDB.
#include <string>

#include "mysql/mysql_table.hpp"
#include "support/own_mariadb.hpp"

namespace rowlock::tests {
namespace {

class MysqlPrepared : public mysql_test {
 protected:
  MysqlPrepared() { pool_.at(0).open(target()); }

  /// Statements of the session so far: "prepare", "execute" or "close".
  long long count(const std::string& what) {
    std::string name;
    std::string value;
    pool_.at(0) << "show session status like 'Com_stmt_" << what << "'", ::soci::into(name),
        ::soci::into(value);
    return std::stoll(value);
  }
  /// Statements of one row and of several, with and without an answer.
  void use(store& rows) {
    const auto granted = acquire(rows, key_);
    ASSERT_EQ(granted.status, acquire_status::granted);
    EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
    EXPECT_EQ(rows.read(std::array{key_}, read_mode::committed).front().value().version,
              *granted.version);
    EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::granted);
    for (const auto& row : rows.list()) {
      EXPECT_EQ(release(rows, row.key, row.version), change_answer::done);
    }
    for (const auto& answer : rows.acquire(std::array{request(key_), request(other_key_)})) {
      EXPECT_EQ(answer.status, acquire_status::granted);
    }
    for (const auto& row : rows.list()) release(rows, row.key, row.version);
  }

  ::soci::connection_pool pool_{1};
};

TEST_F(MysqlPrepared, StatementsAreMadeAtTheirSecondExecutionAndClosedWithTheStore) {
  create(key_);
  {
    soci_store rows{pool_, {.pool_size = 1}};
    release(rows, key_, *acquire(rows, key_).version);
    EXPECT_EQ(count("prepare"), 0);
    for (int i = 0; i < 3; ++i) release(rows, key_, *acquire(rows, key_).version);
    EXPECT_EQ(count("prepare"), 2);
    EXPECT_EQ(count("execute"), 6);
    EXPECT_EQ(count("close"), 0);
  }
  EXPECT_EQ(count("close"), 2);
}

TEST_F(MysqlPrepared, StatementsBringTheSameBytesInEachCharacterSet) {
  const lock_key key{.type = "a:B/c.d",
                     .source_id = "\\' \" ? $1 % _ \x01\t\xc3\xa9\xf0\x9f\x90\x8e "};
  const std::string note = std::string(1000, 'n') + "\xc3\xa9 \\'";
  for (const auto* charset : {"utf8mb4", "latin1", "gbk", "binary"}) {
    soci_store rows{target() + " charset=" + charset, {.pool_size = 1}};
    for (int i = 0; i < 3; ++i) {
      auto wanted = request(key);
      wanted.holder = "h\xc3\xb6st \xf0\x9f\x90\x8e '\\";
      const auto granted = rows.acquire(std::array{wanted}).front();
      ASSERT_EQ(granted.status, acquire_status::granted) << charset;
      rows.write_note({.key = key, .owner = mine_, .version = *granted.version, .note = note});
      // Through a session of another character set: one alone would read back what it misread.
      const auto seen = rows_.read(std::array{key}, read_mode::shown).front().value();
      EXPECT_EQ(seen.holder, wanted.holder) << charset;
      EXPECT_EQ(seen.note, note) << charset;
      ASSERT_EQ(rows.list().size(), 1U);
      EXPECT_EQ(rows.list().front().key, key) << charset;
      EXPECT_EQ(release(rows, key, *granted.version), change_answer::done);
    }
  }
  EXPECT_EQ(number("select count(*) from shared_lock"), 1);
}

TEST_F(MysqlPrepared, StatementsOutlastATableThatIsAlteredOrMadeAnew) {
  soci_store rows{pool_, {.pool_size = 1}};
  use(rows);
  use(rows);
  for (const auto* change : {"alter table shared_lock add column extra int first",
                             "alter table shared_lock drop column extra, engine = innodb",
                             "alter table shared_lock modify failure_count int not null default 0, "
                             "modify holder text character set utf8mb4",
                             "create table copy like shared_lock; drop table shared_lock; "
                             "rename table copy to shared_lock"}) {
    database_.execute(change);
    use(rows);
    use(rows);
  }
  EXPECT_GT(count("execute"), 20);
}

TEST_F(MysqlPrepared, StatementsAreMadeAnewOnANewConnection) {
  soci_store rows{pool_, {.pool_size = 1}};
  use(rows);
  use(rows);
  long long id = 0;
  pool_.at(0) << "select connection_id()", ::soci::into(id);
  database_.execute("kill " + std::to_string(id));
  use(rows);
  use(rows);
  EXPECT_GT(count("prepare"), 0);
}

TEST_F(MysqlPrepared, StatementsThatFailShowNoValue) {
  soci_store rows{pool_, {.pool_size = 1}};
  for (int i = 0; i < 2; ++i) release(rows, key_, *acquire(rows, key_).version);
  ASSERT_GT(count("execute"), 0);
  database_.execute(
      "create trigger disturbing before update on shared_lock for each row begin "
      "declare said text default concat('no owner ', new.owner); "
      "signal sqlstate '45000' set message_text = said; end");
  const auto failed = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(failed.kind, errc::rejected);
  for (const auto& message : failed.messages) {
    EXPECT_EQ(message.find(mine_.text), std::string::npos) << message;
  }
  database_.execute("drop trigger disturbing");
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(MysqlPrepared, StatementsAreSentAsTextWhereTheServerHasTooMany) {
  for (const auto* limit : {"0", "1"}) {
    const own_mariadb server{{std::string{"--max-prepared-stmt-count="} + limit}};
    migrate_soci(server.url());
    soci_store rows{server.url(), {.pool_size = 1}};
    for (int i = 0; i < 3; ++i) use(rows);
  }
}

}  // namespace
}  // namespace rowlock::tests
