// A server that is too old is refused before anything is locked, by either driver.
#include "support/old_server.hpp"

#include "rowlock/postgres.hpp"
#include "rowlock/soci_store.hpp"
#include "soci/soci_postgres_table.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class PostgresServerVersion : public soci_postgres_table {
 protected:
  void say_it_is(const std::string& major) { proxy_.edit_replies(postgres_that_says_it_is(major)); }
  [[nodiscard]] std::string url_of_it() const { return url_through(proxy_); }
  [[nodiscard]] auto factory() const {
    return [url = url_of_it()] { return std::make_unique<pqxx::connection>(url); };
  }

  tcp_proxy proxy_{server_.host(), server_.port()};
};

TEST_F(PostgresServerVersion, ThatIsTheOldestIsTaken) {
  say_it_is("13");
  postgres_store of_libpqxx{url_of_it(), {.table = table()}};
  EXPECT_EQ(acquire(of_libpqxx, key_).status, acquire_status::granted);
  auto of_soci = soci_postgres_table::open_store(soci_url(url_of_it()));
  EXPECT_EQ(acquire(of_soci, other_key_).status, acquire_status::granted);
}

class PostgresServerTooOld : public PostgresServerVersion {
 protected:
  PostgresServerTooOld() { say_it_is("12"); }

  void expect_refused(const std::function<void()>& call) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("PostgreSQL 13"), std::string::npos) << caught.message();
    EXPECT_EQ(server_.value<int>("select count(*) from " + name()), 0);
  }
  void expect_refused_to(store& rows) {
    expect_refused([&] { acquire(rows, key_); });
  }
};

TEST_F(PostgresServerTooOld, IsRefusedToAStore) {
  postgres_store rows{url_of_it(), {.table = table()}};
  expect_refused_to(rows);
}

TEST_F(PostgresServerTooOld, IsRefusedToAFactoryOfConnections) {
  postgres_store rows{factory(), {.table = table()}};
  expect_refused_to(rows);
}

TEST_F(PostgresServerTooOld, IsRefusedToAStoreOfSoci) {
  auto rows = soci_postgres_table::open_store(soci_url(url_of_it()));
  expect_refused_to(rows);
}

TEST_F(PostgresServerTooOld, IsRefusedToAPoolOfSoci) {
  soci::connection_pool pool{1};
  pool.at(0).open(soci_url(url_of_it()));
  soci_store rows{pool, {.table = table(), .pool_size = 1}};
  expect_refused_to(rows);
}

TEST_F(PostgresServerTooOld, IsRefusedToATransaction) {
  open_work its{url_of_it()};
  expect_refused([&] { (void)lock_rows(its.work, key_, no_wait(), {table()}); });
  expect_refused([&] { (void)read_version(its.work, key_, {table()}); });

  soci::session session{soci_url(url_of_it())};
  const soci::transaction work{session};
  expect_refused([&] { (void)lock_rows(session, key_, no_wait(), {table()}); });
}

TEST_F(PostgresServerTooOld, IsRefusedToAMigration) {
  const table_name other{schema() + ".other_lock"};
  expect_refused([&] { migrate_postgres(url_of_it(), other); });
  expect_refused([&] { migrate_soci(soci_url(url_of_it()), other); });
  EXPECT_TRUE(server_.value<bool>("select to_regclass('" + other.text() + "') is null"));
}

}  // namespace
}  // namespace rowlock::tests
