// The network that fails on demand, between a client and PostgreSQL.
#include "support/tcp_proxy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "support/patience.hpp"
#include "support/postgres_schema.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class TcpProxy : public testing::Test {
 protected:
  TcpProxy() {
    pqxx::connection known{postgres_url()};
    proxy_ = std::make_unique<tcp_proxy>(known.hostname(), known.port());
  }

  [[nodiscard]] std::unique_ptr<pqxx::connection> connect() const {
    return std::make_unique<pqxx::connection>(url_through(*proxy_));
  }

  static int one(pqxx::connection& connection) {
    pqxx::nontransaction reader{connection};
    return reader.exec("select 1")[0][0].as<int>();
  }

  static void expect_broken(pqxx::connection& connection) {
    EXPECT_THROW(one(connection), pqxx::broken_connection);
  }

  void await_connections(std::size_t count) {
    ASSERT_TRUE(comes([&] { return proxy_->connections() == count; }))
        << proxy_->connections() << " connections, not " << count;
  }

  /// What the client does, once the proxy has its request.
  template <class Work>
  std::future<void> sent(const Work& work) {
    const auto before = proxy_->received();
    auto sending = std::async(std::launch::async, work);
    EXPECT_TRUE(comes([&] { return proxy_->received() > before; }));
    return sending;
  }

  /// Whether the server says this of the session behind the connection: 1 or 0.
  static int count_of(const pqxx::connection& connection, const std::string& what) {
    pqxx::connection watching{postgres_url()};
    pqxx::nontransaction reader{watching};
    return reader
        .exec("select count(*) from pg_stat_activity where pid = " +
              std::to_string(connection.backendpid()) + " and " + what)[0][0]
        .as<int>();
  }

  std::unique_ptr<tcp_proxy> proxy_;
};

TEST_F(TcpProxy, ForwardsConnectionsAndTheirEnds) {
  const auto first = connect();
  {
    const auto second = connect();
    EXPECT_EQ(one(*first), 1);
    EXPECT_EQ(one(*second), 1);
    EXPECT_EQ(proxy_->connections(), 2U);
  }
  await_connections(1);
  EXPECT_EQ(one(*first), 1);
}

TEST_F(TcpProxy, ForwardsMoreThanFitsAtOnce) {
  const auto connection = connect();
  pqxx::nontransaction reader{*connection};
  const std::string sent(8'000'000, 'x');
  EXPECT_EQ(reader.exec("select '" + sent + "'")[0][0].as<std::string>(), sent);
}

TEST_F(TcpProxy, ResetsWhatIsOpenAndServesWhatComesLater) {
  const auto connection = connect();
  proxy_->reset();
  EXPECT_EQ(proxy_->connections(), 0U);
  expect_broken(*connection);
  EXPECT_EQ(one(*connect()), 1);
}

TEST_F(TcpProxy, DelaysRequests) {
  const auto connection = connect();
  EXPECT_EQ(count_of(*connection, "query <> ''"), 0);
  proxy_->delay(1h);
  auto attempt = sent([&] { expect_broken(*connection); });
  EXPECT_EQ(count_of(*connection, "query <> ''"), 0);
  proxy_->reset();
  attempt.get();
}

TEST_F(TcpProxy, ForwardsWhatItHasDelayed) {
  proxy_->delay(20ms);
  EXPECT_EQ(one(*connect()), 1);
}

TEST_F(TcpProxy, BlackHoleIsSilentAndItsVictimsAreResetAfterwards) {
  const auto victim = connect();
  const auto lucky = connect();
  proxy_->black_hole();
  auto attempt = sent([&] { expect_broken(*victim); });
  EXPECT_EQ(proxy_->connections(), 2U);
  proxy_->pass();
  attempt.get();
  EXPECT_EQ(one(*lucky), 1);
  EXPECT_EQ(proxy_->connections(), 1U);
}

TEST_F(TcpProxy, BlackHoleAnswersNoNewcomer) {
  proxy_->black_hole();
  auto connecting = sent([&] { EXPECT_ANY_THROW((void)connect()); });
  proxy_->pass();
  connecting.get();
}

TEST_F(TcpProxy, SwallowsTheReplyToARequestThatWasCarriedOut) {
  const postgres_schema schema;
  const auto table = schema.name() + ".written";
  postgres_schema::execute("create table " + table + " (n integer)");
  const auto connection = connect();
  {
    pqxx::nontransaction writing{*connection};
    proxy_->swallow_reply("insert into");
    EXPECT_EQ(writing.exec("select 1").size(), 1U) << "that is another request";
    EXPECT_THROW(writing.exec("insert into " + table + " values (1)"), pqxx::broken_connection);
  }
  EXPECT_EQ(proxy_->swallowed(), 1U);
  const auto next = connect();
  pqxx::nontransaction reader{*next};
  EXPECT_EQ(reader.exec("select n from " + table).size(), 1U) << "and it happens only once";
}

TEST_F(TcpProxy, ResetsItsClientsWhenNobodyListens) {
  tcp_proxy nowhere{"/no/such/folder", "5432"};
  EXPECT_ANY_THROW(pqxx::connection{url_through(nowhere)});
  EXPECT_EQ(nowhere.connections(), 0U);
}

TEST_F(TcpProxy, CutsOffClientsWhoseKernelsThenGiveUp) {
  const auto* separator = url_through(*proxy_).find('?') == std::string::npos ? "?" : "&";
  const auto url = url_through(*proxy_) + separator + "tcp_user_timeout=300&connect_timeout=2";
  pqxx::connection connection{url};
  EXPECT_EQ(one(connection), 1);
  proxy_->cut();
  expect_broken(connection);
  EXPECT_THROW(pqxx::connection{url}, pqxx::broken_connection);
  proxy_->pass();
  EXPECT_EQ(one(*connect()), 1);
}

}  // namespace
}  // namespace rowlock::tests
