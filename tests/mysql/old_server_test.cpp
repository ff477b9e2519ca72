// A server that is too old is refused before anything is locked.
#include "support/old_server.hpp"

#include "mysql/connecting.hpp"
#include "mysql/inspecting.hpp"
#include "mysql/mysql_table.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class MysqlServerVersion : public mysql_test {
 protected:
  void say_it_is(const std::string& version) {
    proxy_.edit_replies(mysql_that_says_it_is(version));
  }
  [[nodiscard]] std::string target_of_it() const { return target_at(proxy_.port()); }

  tcp_proxy proxy_{"127.0.0.1", server_port()};
};

TEST_F(MysqlServerVersion, ThatIsTheOldestIsTaken) {
  say_it_is("10.6.0-MariaDB");
  soci_store rows{target_of_it()};
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

// It would be new enough by its number.
TEST_F(MysqlServerVersion, ThatIsTidbIsRefusedForWhatItDoesNotLock) {
  say_it_is("9.9.11-TiDB-v9.5.0");
  const auto expect_refused = [](const std::function<void()>& call) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("TiDB, whose SKIP LOCKED locks no row"), std::string::npos)
        << caught.message();
  };
  soci_store rows{target_of_it()};
  expect_refused([&] { acquire(rows, key_); });
  expect_refused([&] { rows.inspect(); });
  ::soci::session session{target_of_it()};
  soci_transaction work{session};
  expect_refused([&] { (void)lock_rows(work, key_, no_wait()); });
}

TEST(MysqlProduct, IsNamedByTheVersionOrItsComment) {
  const auto expect = [](std::string_view text, std::string_view product) {
    EXPECT_EQ(mysql::product_of(text), product) << text;
  };
  expect("8.0.11-TiDB-v8.5.0", "TiDB");
  expect("TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible", "TiDB");
  expect("8.0.30-Vitess", "Vitess");
  expect("Version: 21.0.0 (Git revision ... branch 'HEAD') Vitess", "Vitess");
  expect("11.8.2-MariaDB-1", "MariaDB");
  expect("9.7.4-2", "MySQL");
  expect("Percona XtraDB Cluster (GPL), Release rel33", "MySQL");
}

TEST(MysqlCluster, IsKnownByItsSettingsOnEveryProduct) {
  const auto is_one = [](const std::string& name, const std::string& value) {
    return mysql::is_of_a_cluster({.rows = {{"version_comment", "(Debian)"}, {name, value}}});
  };
  EXPECT_TRUE(is_one("wsrep_on", "ON"));
  EXPECT_FALSE(is_one("wsrep_on", "OFF"));
  EXPECT_TRUE(is_one("group_replication_single_primary_mode", "OFF"));
  EXPECT_FALSE(is_one("group_replication_single_primary_mode", "ON"));
}

struct old_version {
  const char* name;
  const char* text;
};
void PrintTo(const old_version& version, std::ostream* out) { *out << version.text; }

class MysqlServerTooOld : public MysqlServerVersion,
                          public testing::WithParamInterface<old_version> {
 protected:
  MysqlServerTooOld() { say_it_is(GetParam().text); }

  void expect_refused(const std::function<void()>& call) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("MariaDB 10.6 or MySQL 8.0.19"), std::string::npos)
        << caught.message();
    EXPECT_EQ(number("select count(*) from shared_lock"), 0);
  }
};

TEST_P(MysqlServerTooOld, IsRefusedToAStore) {
  soci_store rows{target_of_it()};
  expect_refused([&] { acquire(rows, key_); });
}

TEST_P(MysqlServerTooOld, IsRefusedToAPool) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target_of_it());
  soci_store rows{pool, {.pool_size = 1}};
  expect_refused([&] { acquire(rows, key_); });
}

TEST_P(MysqlServerTooOld, IsRefusedToATransaction) {
  ::soci::session session{target_of_it()};
  soci_transaction work{session};
  expect_refused([&] { (void)lock_rows(work, key_, no_wait()); });
  expect_refused([&] { (void)read_version(session, key_); });
  expect_refused([&] { (void)try_commit(session, key_, version{1}); });
}

TEST_P(MysqlServerTooOld, IsRefusedToAMigration) {
  expect_refused([&] { migrate_soci(target_of_it(), table_name{"other_lock"}); });
  EXPECT_EQ(number("select count(*) from information_schema.tables where table_schema = database() "
                   "and table_name = 'other_lock'"),
            0);
}

INSTANTIATE_TEST_SUITE_P(Of, MysqlServerTooOld,
                         testing::Values(old_version{"Mariadb", "10.5.29-MariaDB"},
                                         old_version{"Mysql", "8.0.18"}),
                         [](const auto& version) { return std::string{version.param.name}; });

}  // namespace
}  // namespace rowlock::tests
