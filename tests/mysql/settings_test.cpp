// Settings of the server that weaken a promise, or that the statements do not expect, on MariaDB.
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "mysql/mysql_table.hpp"
#include "rowlock/operators.hpp"
#include "rowlock/row_lock.hpp"
#include "support/mariadb_line.hpp"
#include "support/own_mariadb.hpp"

namespace rowlock::tests {
namespace {

/// On a server of its own, because the settings are those of all sessions.
class MysqlSettings : public testing::Test {
 protected:
  MysqlSettings() { migrate_soci(target_); }

  /// The settings that are named, when the server has `setting`.
  std::vector<std::string> weak_with(const std::string& setting) {
    ::soci::session session{target_};
    session << "set global " + setting;
    soci_store rows{target_};
    std::vector<std::string> names;
    for (const auto& each : rows.weak_settings()) names.push_back(each.substr(0, each.find(' ')));
    return names;
  }

  own_mariadb server_;
  std::string target_ = database_url{server_.url()}.target();
};

using names = std::vector<std::string>;

TEST_F(MysqlSettings, ThatWeakenAPromiseAreNamed) {
  EXPECT_EQ(weak_with("innodb_flush_log_at_trx_commit = 1"), names{});
  EXPECT_EQ(weak_with("innodb_flush_log_at_trx_commit = 2"),
            names{"innodb_flush_log_at_trx_commit"});
  EXPECT_EQ(weak_with("sql_mode = ''"), (names{"innodb_flush_log_at_trx_commit", "sql_mode"}));
  EXPECT_EQ(weak_with("sql_mode = 'STRICT_TRANS_TABLES'"), names{"innodb_flush_log_at_trx_commit"});
}

TEST(MysqlThatRollsBackOnTimeout, IsNamedAndLetsNothingCommitOutsideOfItsTransaction) {
  const own_mariadb server{{"--innodb-rollback-on-timeout"}};
  const auto target = database_url{server.url()}.target();
  migrate_soci(target);
  soci_store rows{target};
  EXPECT_EQ(rows.weak_settings().back().substr(0, 26), "innodb_rollback_on_timeout");
  lock_table locks{rows};
  const lock_key key{"job", "nightly"};
  const lease held = *locks.try_acquire(key);

  ::soci::session rival{target};
  rival.begin();
  int one = 0;
  rival << "select 1 from shared_lock for update", ::soci::into(one);
  ::soci::session session{target};
  session << "create table report (number int primary key) engine = InnoDB";
  soci_transaction work{session};
  session << "insert into report values (1)";
  EXPECT_EQ(error_of([&] { fence(session, held); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::misuse);
  int rows_written = -1;
  session << "select count(*) from report", ::soci::into(rows_written);
  EXPECT_EQ(rows_written, 0);
}

/// On a server whose settings are all other than expected, tests/support/turned/mariadb.sql. One
/// for all tests, each of which finds an empty database.
class MysqlTurned : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<own_mariadb>();
    administrator_ = std::make_unique<mariadb_line>(server_->url());  // with the usual settings
    std::ifstream script{ROWLOCK_TURNED_MARIADB};
    for (std::string line; std::getline(script, line);) {
      if (line.starts_with("SET")) administrator_->execute(line);
    }
  }
  static void TearDownTestSuite() {
    administrator_.reset();
    server_.reset();
  }

  MysqlTurned() {
    administrator_->execute("drop database rowlock_test");
    administrator_->execute("create database rowlock_test");
  }
  /// A session of the application, which commits and writes as usual.
  [[nodiscard]] std::unique_ptr<::soci::session> open() const {
    auto session = std::make_unique<::soci::session>(target_);
    *session << "set autocommit = 1, tx_read_only = 0, completion_type = 0";
    return session;
  }
  static std::string value(const std::string& sql) { return administrator_->value(sql); }

  inline static std::unique_ptr<own_mariadb> server_;
  inline static std::unique_ptr<mariadb_line> administrator_;
  const std::string target_ = database_url{server_->url()}.target();
  const lock_key first_{"set", "1"};
  const lock_key second_{"set", "2"};
};

TEST_F(MysqlTurned, DoesNotReachMigrations) {
  EXPECT_EQ(migrate_soci(target_).size(), 1U);
  EXPECT_EQ(value("select count(*) from rowlock_test.shared_lock_schema"), "1");
  EXPECT_EQ(migrate_soci(target_, {}, history_option::with).size(), 1U);
  EXPECT_EQ(migrate_soci(target_, {}, history_option::with).size(), 0U);
  // A trigger runs with the sql_mode of the session that made it.
  EXPECT_EQ(value("select group_concat(distinct sql_mode) from information_schema.triggers"),
            "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION");
}

TEST_F(MysqlTurned, DoesNotReachStores) {
  migrate_soci(target_, {}, history_option::with);
  soci_store rows{target_};
  lock_table locks{rows};
  const std::vector<lock_key> keys{first_, second_, {"set", "3"}};
  EXPECT_TRUE(locks.try_acquire_all(keys).acquired()) << "new ones";
  EXPECT_TRUE(locks.try_acquire_all(keys).acquired()) << "those that are there";
  EXPECT_EQ(locks.try_acquire_any(keys, 2)->size(), 2U);

  std::vector<acquire_request> requests;
  std::vector<renew_request> renewals;
  std::vector<release_request> releases;
  for (const auto& key : keys) {
    requests.push_back({.key = key, .owner = make_owner_id(), .holder = "\u00e4:1", .ttl = 1h});
  }
  const auto granted = rows.acquire(requests);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(granted[i].status, acquire_status::granted);
    renewals.push_back({keys[i], requests[i].owner, *granted[i].version, 2h});
    releases.push_back(
        {.key = keys[i], .owner = requests[i].owner, .version = *granted[i].version});
  }
  EXPECT_EQ(rows.renew(renewals), std::vector(keys.size(), change_answer::done));
  EXPECT_EQ(rows.write_note({keys[0], requests[0].owner, *granted[0].version, "h\u00e9"}),
            change_answer::done);
  EXPECT_EQ(rows.list().size(), keys.size());
  EXPECT_EQ(rows.list({.holder = "\u00e4:1"}).size(), keys.size());
  EXPECT_EQ(rows.read(std::array{keys[0]}).front()->note, "h\u00e9");
  EXPECT_EQ(rows.read(std::array{keys[0]}).front()->holder, "\u00e4:1");
  EXPECT_EQ(force_release(rows, keys[0], *granted[0].version, "test").answer,
            force_answer::released);
  EXPECT_EQ(rows.release(std::vector(releases.begin() + 1, releases.end())),
            std::vector(keys.size() - 1, change_answer::done));
  EXPECT_EQ(rows.history({.what = "granted"}).events.size(), 11U);
  *open() << "update shared_lock set version = 1 where lock_type = 'set'";
  EXPECT_EQ(purge(rows, 1h).purged, keys.size());
}

TEST_F(MysqlTurned, DoesNotReachStoresOfAPool) {
  migrate_soci(target_);
  ::soci::connection_pool pool{1};
  pool.at(0).open(target_);
  soci_store rows{pool, {.pool_size = 1}};
  EXPECT_TRUE(lock_table{rows}.try_acquire_all({first_, second_}).acquired());
  EXPECT_EQ(value("select count(*) from rowlock_test.shared_lock"), "2");
}

TEST_F(MysqlTurned, DoesNotReachStatementsInATransactionOfTheApplication) {
  migrate_soci(target_);
  soci_store rows{target_};
  lock_table locks{rows};
  const auto opened = open();
  auto& session = *opened;
  const lock_keys both{first_, second_};
  for (int round = 0; round < 2; ++round) {  // missing rows, then those that are there
    soci_transaction work{session};
    ASSERT_TRUE(lock_rows(work, both, no_wait()).acquired());
    work.commit();
  }
  const auto held = *locks.try_acquire_all({first_, second_});
  {
    soci_transaction work{session};
    fence(session, held);
    fence(session, held, {.kind = fence_kind::share});
    release_with(session, held);
    work.commit();
  }
  soci_transaction work{session};
  const auto seen = read_version(session, first_);
  ASSERT_TRUE(seen.acquired());
  EXPECT_EQ(try_commit(session, first_, *seen), commit_result::committed);
  work.commit();
}

TEST_F(MysqlTurned, LetsFailuresOfRowLocksBeCounted) {
  migrate_soci(target_);
  const auto opened = open();
  EXPECT_THROW((void)with_row_lock<soci_transaction>(
                   *opened, first_, [](auto&) { throw std::runtime_error{"of the work"}; }),
               std::runtime_error);
  EXPECT_EQ(value("select failure_count from rowlock_test.shared_lock"), "1");
}

// With both checks off InnoDB writes the first rows of an empty table without a lock for each: it
// locks the table.
TEST_F(MysqlTurned, LetsTheFirstRowLockOfAnEmptyTableLeaveOtherKeysAlone) {
  migrate_soci(target_);
  soci_store rows{target_};
  lock_table locks{rows};
  const auto opened = open();
  auto& session = *opened;
  soci_transaction work{session};
  ASSERT_TRUE(lock_rows(work, first_, no_wait()).acquired());
  EXPECT_TRUE(locks.try_acquire(second_).acquired());
}

}  // namespace
}  // namespace rowlock::tests
