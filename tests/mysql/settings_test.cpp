// Settings of the server that weaken a promise, on MariaDB.
#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "mysql/mysql_table.hpp"
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

}  // namespace
}  // namespace rowlock::tests
