// Connecting: what is reported when it fails, and what never is.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "postgres/postgres_table.hpp"
#include "support/fake_postgres.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

caught_error error_of_reading(const std::string& connection_string) {
  return error_of([&] {
    postgres_store rows{connection_string, {.connect_timeout = 1s}};
    (void)rows.list();
  });
}

void expect_unsaid(const caught_error& caught, const std::vector<std::string>& secrets) {
  for (const auto& message : caught.messages) {
    for (const auto& secret : secrets) {
      EXPECT_EQ(message.find(secret), std::string::npos) << message;
    }
  }
}

/// A port at which nothing listens, as long as this exists.
class closed_port {
 public:
  closed_port() : socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const plain = static_cast<sockaddr*>(static_cast<void*>(&address_));
    if (bind(socket_, plain, size) != 0 || getsockname(socket_, plain, &size) != 0) {
      throw std::runtime_error{"no port"};
    }
  }
  closed_port(const closed_port&) = delete;
  closed_port& operator=(const closed_port&) = delete;
  ~closed_port() { close(socket_); }

  [[nodiscard]] std::string text() const { return std::to_string(ntohs(address_.sin_port)); }

 private:
  int socket_;
  sockaddr_in address_{};
};

TEST(PostgresLogin, ToAServerThatIsNotThereIsUnavailableAndSaysWhere) {
  const closed_port port;
  const auto caught =
      error_of_reading("postgresql://app:sesame42@127.0.0.1:" + port.text() + "/shop");
  EXPECT_EQ(caught.kind, errc::unavailable);
  for (const auto& part : {std::string{"127.0.0.1"}, port.text(), std::string{"shop"}}) {
    EXPECT_NE(caught.message().find(part), std::string::npos) << caught.message();
  }
  expect_unsaid(caught, {"sesame42", "postgresql://"});
}

TEST(PostgresLogin, ToAMissingSocketOrHostIsUnavailable) {
  const auto caught = error_of_reading("host=/no/such/folder dbname=shop");
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("it has no socket there: start it"), std::string::npos)
      << caught.message();
  EXPECT_EQ(error_of_reading("postgresql://no-such-host.invalid/shop").kind, errc::unavailable);
  for (const std::string wrong : {"number", "99999"}) {
    const auto refused = error_of_reading("host=db dbname=shop port=" + wrong);
    EXPECT_EQ(refused.kind, errc::misuse) << wrong;
    EXPECT_NE(refused.message().find("the port is no number from 1"), std::string::npos)
        << refused.message();
  }
}

TEST(PostgresLogin, ThatIsCutOffIsUnavailableAndSaysSo) {
  const closed_port port;
  const tcp_proxy proxy{"127.0.0.1", port.text()};  // resets its clients
  const auto caught =
      error_of_reading("postgresql://app@127.0.0.1:" + std::to_string(proxy.port()) + "/shop");
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("closed the connection before the login was over"),
            std::string::npos)
      << caught.message();
}

TEST(PostgresLogin, WithAWrongPasswordIsRejectedWithoutIt) {
  // Even by a server that repeats it.
  fake_postgres server{[](const login& said) {
    return fake_postgres::reason{
        "28P01", "password authentication failed for user \"app\" with " + said.password};
  }};
  const auto at = "127.0.0.1:" + std::to_string(server.port());
  for (const auto& connection_string :
       {"postgresql://app:sesame42@" + at + "/shop",
        "host=127.0.0.1 user=app password=sesame42 dbname=shop port=" +
            std::to_string(server.port())}) {
    const auto caught = error_of_reading(connection_string);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("password"), std::string::npos);
    expect_unsaid(caught, {"sesame42", "postgresql://"});
  }
  EXPECT_EQ(server.logins().at(0).password, "sesame42");
}

TEST(PostgresLogin, OfAMigrationIsToldInTheSameWords) {
  fake_postgres server{[](const login&) {
    return fake_postgres::reason{"28P01", "password authentication failed"};
  }};
  const auto caught = error_of([&] {
    migrate_postgres("postgresql://app:sesame42@127.0.0.1:" + std::to_string(server.port()) +
                     "/shop");
  });
  EXPECT_EQ(caught.kind, errc::rejected);
  expect_unsaid(caught, {"sesame42"});
}

TEST(PostgresLogin, OfAUserOrADatabaseThatDoesNotExistSaysWhichOfThem) {
  for (const auto& [reason, said] :
       {std::pair{fake_postgres::reason{"28000", "role \"app\" does not exist"},
                  "this user does not exist"},
        {fake_postgres::reason{"3D000", "database \"shop\" does not exist"},
         "this database does not exist"}}) {
    const fake_postgres server{[&reason = reason](const login&) { return reason; }};
    const auto caught = error_of_reading(
        "postgresql://app:sesame42@127.0.0.1:" + std::to_string(server.port()) + "/shop");
    EXPECT_NE(caught.message().find(said), std::string::npos) << caught.message();
  }
}

TEST(PostgresLogin, ThatTheServerRefusesIsToldByItsReason) {
  const std::vector<std::pair<fake_postgres::reason, errc>> reasons{
      {{"28000", "no pg_hba.conf entry for host \"127.0.0.1\""}, errc::rejected},
      {{"28000", "role \"app\" does not exist"}, errc::rejected},
      {{"3D000", "database \"shop\" does not exist"}, errc::rejected},
      {{"42501", "permission denied for database \"shop\""}, errc::rejected},
      {{"53300", "sorry, too many clients already"}, errc::unavailable},
      {{"57P03", "the database system is starting up"}, errc::unavailable},
      {{"XX000", "something else"}, errc::unavailable},
  };
  for (const auto& each : reasons) {
    const auto& reason = each.first;
    fake_postgres server{[&reason](const login&) { return reason; }};
    const auto caught = error_of_reading(
        "postgresql://app:sesame42@127.0.0.1:" + std::to_string(server.port()) + "/shop");
    EXPECT_EQ(caught.kind, each.second) << reason.message;
    EXPECT_EQ(caught.messages.size(), 1U) << "the driver's words may hold anything";
    expect_unsaid(caught, {"sesame42"});
  }
}

TEST(PostgresLogin, WhereALimitIsReachedSaysWhichOne) {
  const std::vector<std::pair<fake_postgres::reason, std::string>> limits{
      {{"53300", "too many connections for role \"app\""}, "ALTER ROLE ... CONNECTION LIMIT"},
      {{"53300", "too many connections for database \"shop\""},
       "ALTER DATABASE ... CONNECTION LIMIT"},
      {{"53300", "sorry, too many clients already"}, "for all roles together"},
      {{"53300", "remaining connection slots are reserved for roles with the SUPERUSER attribute"},
       "reserves for administrators"},
      {{"53300",
        "remaining connection slots are reserved for non-replication superuser "
        "connections"},
       "reserves for administrators"},
      {{"08P01", "no more connections allowed (max_client_conn)"}, "max_client_conn of PgBouncer"},
      {{"53200", "out of shared memory"}, "raise max_locks_per_transaction"},
  };
  for (const auto& each : limits) {
    const auto& reason = each.first;
    const fake_postgres server{[&reason](const login&) { return reason; }};
    const auto caught = error_of_reading(
        "postgresql://app:sesame42@127.0.0.1:" + std::to_string(server.port()) + "/shop");
    EXPECT_EQ(caught.kind, errc::unavailable) << reason.message;
    EXPECT_NE(caught.message().find(each.second), std::string::npos) << caught.message();
  }
}

/// Whatever a client says first is answered by something else.
class NotPostgres : public postgres_table {
 protected:
  NotPostgres() {
    proxy_.edit_replies([](const std::string&) {
      return std::string{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"};
    });
  }

  tcp_proxy proxy_{server_.host(), server_.port()};
};

TEST_F(NotPostgres, IsUnavailableAndSaysWhatToCheck) {
  for (const auto* mode : {"prefer", "disable"}) {
    const auto url = url_through(proxy_);
    const char* separator = url.find('?') == std::string::npos ? "?" : "&";
    const auto caught = error_of_reading(url + separator + "sslmode=" + mode);
    EXPECT_EQ(caught.kind, errc::unavailable) << mode;
    EXPECT_NE(caught.message().find("not PostgreSQL"), std::string::npos) << caught.message();
  }
}

class ChangedLogin : public postgres_table {};

// The server does not ask for passwords, so it is the user that changes.
TEST_F(ChangedLogin, IsFetchedWhenTheServerRefusesTheOldOne) {
  const auto missing = url_with("user=r_" + make_owner_id().text);
  std::string now = missing;
  int fetched = 0;
  postgres_store rows{missing, {.table = table(), .pool_size = 1, .connection_string_now = [&] {
                                  ++fetched;
                                  return now;
                                }}};
  EXPECT_THROW((void)rows.list(), login_refused);
  now = postgres_url();
  EXPECT_TRUE(rows.list().empty());
  EXPECT_TRUE(rows.list().empty());
  EXPECT_EQ(fetched, 2);
}

TEST_F(ChangedLogin, IsNotTriedWhereItIsStillTheSame) {
  fake_postgres server{[](const login&) {
    return fake_postgres::reason{"28P01", "password authentication failed for user \"app\""};
  }};
  const auto url = "postgresql://app:sesame@127.0.0.1:" + std::to_string(server.port()) + "/shop";
  postgres_store rows{url, {.connection_string_now = [&] { return url; }}};
  EXPECT_THROW((void)rows.list(), login_refused);
  EXPECT_EQ(server.logins().size(), 1U);
}

TEST(PostgresLogin, WithAValueThatLibpqDoesNotTakeIsMisuse) {
  EXPECT_EQ(error_of_reading("host=127.0.0.1 sslmode=perhaps").kind, errc::misuse);
}

TEST(PostgresLogin, WithABadlyEscapedPasswordShowsNoPartOfIt) {
  const closed_port port;
  const std::vector<std::string> secrets{"sesame", "42open", "door"};
  for (const auto* password :
       {"sesame@42open", "sesame/42open", "sesame@42open/door", "sesame/42open@door",
        "sesame:42open", "sesame?42open", "sesame#42open", "sesame%42open", "sesame%zzopen",
        "sesame@42open:door", "sesame 42open", "sesame@42open,door", "[sesame]42open",
        "sesame/42open?door=42open"}) {
    const auto caught = error_of_reading(std::string{"postgresql://app:"} + password +
                                         "@127.0.0.1:" + port.text() + "/shop");
    EXPECT_TRUE(caught.kind == errc::unavailable || caught.kind == errc::misuse) << password;
    expect_unsaid(caught, secrets);
  }
}

TEST(PostgresLogin, WithAStringThatLibpqDoesNotUnderstandIsMisuseAtOnce) {
  for (const auto* text : {"postgresql://app:sesame%zz@host/shop", "host=db password=sesame 42open",
                           "sesame42", "host='sesame42", "postgresql://app:sesame42@[host/shop"}) {
    const auto caught = error_of([&] { postgres_store{std::string{text}}; });
    EXPECT_EQ(caught.kind, errc::misuse) << text;
    expect_unsaid(caught, {"sesame", "42open"});
  }
}

TEST(PostgresLogin, ThroughAPoolerThatRefusesOptionsIsTriedWithoutThem) {
  fake_postgres pooler{[](const login& said) {
    if (!said.options.empty()) {
      return fake_postgres::reason{"08P01", "unsupported startup parameter: options"};
    }
    return fake_postgres::reason{"57P03", "the database system is starting up"};
  }};
  const auto caught =
      error_of_reading("postgresql://app:x@127.0.0.1:" + std::to_string(pooler.port()) + "/shop");
  EXPECT_NE(caught.message().find("starting"), std::string::npos) << caught.message();
  ASSERT_EQ(pooler.logins().size(), 2U);
}

TEST(PostgresLogin, PinsTheIsolationAndLeavesTheUsersOptionsInForce) {
  fake_postgres server{[](const login&) { return fake_postgres::reason{"57P03", "not yet"}; }};
  const auto url = "postgresql://app:x@127.0.0.1:" + std::to_string(server.port()) + "/shop";
  error_of_reading(url);
  error_of_reading(url + "?options=-c%20statement_timeout%3D77");
  const auto logins = server.logins();
  ASSERT_EQ(logins.size(), 2U);
  const std::string limits = "-c statement_timeout=10000 -c lock_timeout=1000 ";
  const std::string pinned =
      "-c default_transaction_isolation=read\\ committed -c array_nulls=on -c exit_on_error=off "
      "-c jit=off";
  EXPECT_EQ(logins[0].options, limits + pinned);
  // The last one counts.
  EXPECT_EQ(logins[1].options, limits + "-c statement_timeout=77 " + pinned);
}

}  // namespace
}  // namespace rowlock::tests
