// Whatever goes wrong on PostgreSQL, by either driver, no message holds a secret.
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/soci_store.hpp"
#include "secrets/spoken.hpp"
#include "soci/soci_postgres_table.hpp"
#include "support/fake_postgres.hpp"
#include "support/old_server.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

/// A superuser with the password.
class superuser {
 public:
  explicit superuser(rowlock::tests::observer& server)
      : server_{server}, name_{"r_" + make_owner_id().text} {
    server_.query("create role " + name_ + " superuser login password '" + password + "'");
  }
  superuser(const superuser&) = delete;
  superuser& operator=(const superuser&) = delete;
  ~superuser() { server_.query("drop role " + name_); }

  [[nodiscard]] std::string url() const {
    const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
    return postgres_url() + separator + "user=" + name_ + "&password=" + password;
  }
  void set(const std::string& setting) { server_.query("alter role " + name_ + " set " + setting); }

 private:
  rowlock::tests::observer& server_;
  std::string name_;
};

class PostgresSecrets : public soci_postgres_table {
 protected:
  void expect_unsaid(const std::string& url) {
    SCOPED_TRACE(url);
    {
      postgres_store rows{url, {.table = table(), .connect_timeout = 1s}};
      said_.record(rows);
      said_.expect_no_secret(url);
    }
    soci_store rows{soci_url(url), {.table = table(), .connect_timeout = 1s}};
    said_.record(rows);
    said_.expect_no_secret(soci_url(url));
  }

  /// Runs before every row of the lock table is written.
  void create_trigger(const std::string& body) {
    server_.query("create function " + schema() +
                  ".disturb() returns trigger language plpgsql as " + "$$ begin " + body +
                  "; return new; end $$");
    server_.query("create trigger disturb before insert or update on " + name() +
                  " for each row execute function " + schema() + ".disturb()");
  }

  superuser user_{server_};
  spoken said_{schema()};
};

TEST_F(PostgresSecrets, AreUnsaidWhenThereIsNoConnection) {
  expect_unsaid("postgresql://app:" + password + "@127.0.0.1:1/shop");
  expect_unsaid("host=/no/such/folder dbname=shop password=" + password);
  for (const auto& reason : {fake_postgres::reason{"28P01", "password authentication failed: "},
                             fake_postgres::reason{"28000", "no pg_hba.conf entry, "},
                             fake_postgres::reason{"3D000", "database does not exist, "},
                             fake_postgres::reason{"53300", "too many clients: "},
                             fake_postgres::reason{"XX000", "whatever "}}) {
    fake_postgres server{[&](const login& said) {
      return fake_postgres::reason{reason.sqlstate, reason.message + said.password};
    }};
    const auto at = "postgresql://app:" + password + "@127.0.0.1:" + std::to_string(server.port());
    expect_unsaid(at + "/shop");
    expect_unsaid(at + "/shop?sslmode=require");
    for (const auto& migrate : {std::function<void()>{[&] { migrate_postgres(at + "/shop"); }},
                                std::function<void()>{[&] { migrate_soci(at + "/shop"); }}}) {
      said_.record_error_of(migrate);
      said_.expect_no_secret(at + "/shop");
    }
  }
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheConnectionStringIsWrong) {
  for (const auto& text : std::vector<std::string>{
           "postgresql://app:" + password + "%zz@host/shop",
           "host=db password=" + password + " open", "host='" + password,
           "postgresql://app:" + password + "@[host/shop", password,
           "postgresql://host=db " + password, "postgresql://password='" + password + "  x'",
           "postgresql://host=db password=" + password + " sslmode=sometimes"}) {
    SCOPED_TRACE(text);
    said_.record_error_of([&] {
      postgres_store rows{text};
      (void)rows.list();
    });
    said_.record_error_of([&] {
      soci_store rows{text};
      (void)rows.list();
    });
    said_.expect_no_secret(text);
  }
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheServerIsTooOldOrOnlyReads) {
  tcp_proxy proxy{server_.host(), server_.port()};
  proxy.edit_replies(postgres_that_says_it_is("12"));
  expect_unsaid(url_through(proxy, user_.url()));
  user_.set("default_transaction_read_only = on");
  expect_unsaid(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheTableIsMissingOrOutOfReach) {
  server_.query("drop table " + name() + "_schema");
  expect_unsaid(user_.url());
  server_.query("drop schema " + schema() + " cascade; create schema " + schema());
  expect_unsaid(user_.url());
  const test_role stranger{server_};
  migrate_postgres(postgres_url(), table());
  expect_unsaid(stranger.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheTableTakesNoOwner) {
  refuse_owners();
  expect_unsaid(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenATriggerSaysThem) {
  create_trigger("raise exception 'no owner % here, nor " + password + "', new.owner");
  expect_unsaid(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenATriggerSaysOneThatDoesNotLookLikeAnOwner) {
  create_trigger("raise exception 'no %', '" + password + "'");
  expect_unsaid(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenATriggerSaysThemByAnotherState) {
  create_trigger("raise exception 'no owner % here', new.owner using errcode = '42501'");
  expect_unsaid(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheServerShowsParameters) {
  user_.set("log_parameter_max_length_on_error = -1");
  create_trigger("raise exception 'no' using errcode = '42501'");
  expect_unsaid(user_.url());
  auto rows = postgres_table::open_store(user_.url());
  const lock_key with_a_secret{.type = "invoice", .source_id = password};
  said_.record_error_of([&] { rows.read(std::array{with_a_secret}, read_mode::ready_to_commit); });
  said_.expect_no_secret(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheConnectionBreaksUnderAStatement) {
  create_trigger("perform pg_terminate_backend(pg_backend_pid())");
  expect_unsaid(user_.url());
}

TEST_F(PostgresSecrets, AreUnsaidWhenTheLeaseOfAFenceIsLost) {
  postgres_store rows{user_.url(), {.table = table()}};
  lock_table locks{rows};
  const auto held = *locks.try_acquire(key_);
  server_.query("update " + name() + " set version = version + 1");
  said_.record_error_of([&] {
    open_work its{user_.url()};
    fence(its.work, held, {}, {table()});
  });
  soci::session session{soci_url(user_.url())};
  said_.record_error_of([&] {
    const soci_transaction work{session};
    fence(session, held, {}, {table()});
  });
  said_.expect_no_secret(user_.url());
}

}  // namespace
}  // namespace rowlock::tests
