// A server that is too old is refused before anything is locked.
#include "support/old_server.hpp"

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
