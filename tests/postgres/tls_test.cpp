// TLS: the certificate of the server is checked, and a wrong one is refused.
#include <string>

#include "postgres/postgres_table.hpp"
#include "support/free_ports.hpp"
#include "support/postgres_cluster.hpp"
#include "support/self_signed.hpp"

namespace rowlock::tests {
namespace {

class PostgresTls : public testing::Test {
 protected:
  PostgresTls() {
    server_.start({"ssl=on", "ssl_cert_file=" + servers_.certificate(),
                   "ssl_key_file=" + servers_.key(), "listen_addresses=127.0.0.1",
                   "port=" + std::to_string(port_)});
    migrate_postgres(url("sslmode=require"));
  }
  [[nodiscard]] std::string url(const std::string& options) const {
    return "postgresql://tester@127.0.0.1:" + std::to_string(port_) + "/postgres?" + options;
  }
  /// That trusts `authority` only.
  [[nodiscard]] postgres_store trusting(const self_signed& authority) const {
    return postgres_store{url("sslmode=verify-full&sslrootcert=" + authority.certificate())};
  }

  const int port_ = free_ports(1).front();
  const self_signed servers_;
  postgres_cluster server_;
};

TEST_F(PostgresTls, IsUsedWhenTheCertificateIsTheServers) {
  auto rows = trusting(servers_);
  EXPECT_TRUE(rows.list().empty());
  observer reader{url("sslmode=require")};
  EXPECT_EQ(reader.value<int>("select count(*)::int from pg_stat_ssl s join pg_stat_activity a "
                              "using (pid) where application_name like 'rowlock %' and s.ssl"),
            1);
}

TEST_F(PostgresTls, RefusesAServerWithAnotherCertificate) {
  const self_signed of_another;
  auto rows = trusting(of_another);
  const auto thrown = error_of([&] { rows.list(); });
  EXPECT_EQ(thrown.kind, errc::rejected);
  EXPECT_NE(thrown.message().find("see sslmode and sslrootcert"), std::string::npos)
      << thrown.message();
}

TEST_F(PostgresTls, NeedsTheRootCertificateToVerifyTheServer) {
  postgres_store rows{url("sslmode=verify-full&sslrootcert=/nonexistent")};
  const auto thrown = error_of([&] { rows.list(); });
  EXPECT_EQ(thrown.kind, errc::rejected);
  EXPECT_NE(thrown.message().find("its root certificate is not there: see sslrootcert"),
            std::string::npos)
      << thrown.message();
}

}  // namespace
}  // namespace rowlock::tests
