// TLS on MariaDB, as far as SOCI and the client library let us have it.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "mysql/mysql_table.hpp"
#include "support/mariadb_line.hpp"
#include "support/own_mariadb.hpp"
#include "support/self_signed.hpp"
#include "support/stopped_server.hpp"

namespace rowlock::tests {
namespace {

std::vector<std::string> tls_with(const self_signed& certificate) {
  // Not our user's, perhaps, as which this server runs.
  std::filesystem::permissions(certificate.key(), std::filesystem::perms{0644});
  return {"--ssl-cert=" + certificate.certificate(), "--ssl-key=" + certificate.key()};
}

std::string target_of(const own_mariadb& server) { return database_url{server.url()}.target(); }
std::string trusting(const own_mariadb& server, const self_signed& authority) {
  return target_of(server) + " sslca='" + authority.certificate() + '\'';
}

/// Of a store that is given `target`.
caught_error refusal_of(const std::string& target) {
  soci_store rows{target};
  return error_of([&] { rows.list(); });
}
void expect_refused(const caught_error& caught, const std::string& why) {
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find(why), std::string::npos) << caught.message();
}

std::string cipher_of(const std::string& target) {
  ::soci::session session{target};
  std::string name;
  std::string value;
  session << "show session status like 'Ssl_cipher'", ::soci::into(name), ::soci::into(value);
  return value;
}

/// A server whose certificate signs itself.
class MysqlTls : public testing::Test {
 protected:
  const self_signed servers_;
  const own_mariadb server_{tls_with(servers_)};
};

TEST_F(MysqlTls, IsUsedWithTheAuthorityOfTheServer) {
  const auto with_tls = trusting(server_, servers_);
  EXPECT_NE(cipher_of(with_tls), "");
  migrate_soci(with_tls);
  EXPECT_TRUE(soci_store{with_tls}.list().empty());

  EXPECT_EQ(cipher_of(target_of(server_)), "");
  mariadb_line{server_.url()}.execute("alter user current_user() require ssl");
  EXPECT_TRUE(soci_store{with_tls}.list().empty());
  expect_refused(refusal_of(target_of(server_)), "sslca for a user that must use TLS");
}

TEST_F(MysqlTls, ThatEndsBeforeTheAnswerLeavesTheOutcomeUnknownAndIsNotUsedAgain) {
  migrate_soci(target_of(server_));
  mariadb_line{server_.url()}.execute(
      "create trigger slow before insert on shared_lock for each row"
      " if new.source_id = 'slow' then do sleep(10); end if");
  soci_store rows{trusting(server_, servers_), {.pool_size = 1, .answer_timeout = 4s}};
  const auto acquire_job = [&](const std::string& id) {
    const acquire_request wanted{
        .key = {"job", id}, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h};
    return rows.acquire(std::array{wanted}).front().status;
  };
  EXPECT_EQ(error_of([&] { acquire_job("slow"); }).kind, errc::outcome_unknown);
  EXPECT_EQ(acquire_job("quick"), acquire_status::granted);
}

TEST_F(MysqlTls, ThatHangsKeepsNeitherWaitsNorALockTableFromEnding) {
  migrate_soci(target_of(server_));
  soci_store theirs{target_of(server_)};
  const soci_options impatient{.statement_timeout = 2s, .answer_timeout = 3s};
  expect_ends_while_stopped(theirs,
                            std::make_unique<soci_store>(trusting(server_, servers_), impatient),
                            [this] { return server_.stop(); });
}

TEST_F(MysqlTls, RefusesAServerWithAnotherCertificate) {
  const self_signed of_another;
  expect_refused(refusal_of(trusting(server_, of_another)), "sslca must name the authority");
}

TEST_F(MysqlTls, LostUnderACommitLeavesItInDoubt) {
  migrate_soci(trusting(server_, servers_));
  ::soci::session session{trusting(server_, servers_)};
  soci_transaction work{session};
  ASSERT_TRUE(lock_rows(work, lock_key{"job", "a"}, no_wait()).acquired());
  server_.crash();
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::outcome_unknown);
}

TEST(MysqlTlsOfTheClient, ProvesItToAServerThatAsksForACertificate) {
  const self_signed servers;
  const self_signed clients;
  auto options = tls_with(servers);
  options.push_back("--ssl-ca=" + clients.certificate());
  const own_mariadb server{options};
  migrate_soci(target_of(server));
  mariadb_line{server.url()}.execute("alter user current_user() require x509");
  expect_refused(refusal_of(trusting(server, servers)), "the server refuses the connection");
  const auto with_certificate = trusting(server, servers) + " sslcert='" + clients.certificate() +
                                "' sslkey='" + clients.key() + '\'';
  EXPECT_TRUE(soci_store{with_certificate}.list().empty());
}

TEST(MysqlTlsOfTheClient, IsMisuseWithoutTheAuthority) {
  for (const auto* parameters : {"sslcert=client.pem", "sslkey=client-key.pem"}) {
    const auto caught = error_of([&] { soci_store{std::string{"mysql://"} + parameters}; });
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_NE(caught.message().find("name sslca too"), std::string::npos) << caught.message();
  }
}

// This is what docs/security.md warns of: the authority is checked, the name is not.
TEST(MysqlTlsOfAnotherName, IsTakenAllTheSame) {
  const self_signed elsewhere{"DNS:elsewhere.example"};
  const own_mariadb server{tls_with(elsewhere)};
  EXPECT_NE(cipher_of(trusting(server, elsewhere)), "");
}

TEST(MysqlTlsThatTheServerDoesNotHave, IsRefusedThoughTheDriverGoesOnWithout) {
  const self_signed of_any;
  const own_mariadb server{{"--skip-ssl"}};
  const auto with_tls = trusting(server, of_any);
  EXPECT_EQ(cipher_of(with_tls), "");
  const std::string why = "the connection is not encrypted";
  expect_refused(error_of([&] { migrate_soci(with_tls); }), why);
  migrate_soci(target_of(server));
  expect_refused(refusal_of(with_tls), why);
}

}  // namespace
}  // namespace rowlock::tests
