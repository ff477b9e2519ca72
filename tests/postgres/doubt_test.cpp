// A commit whose answer gets lost, and the witness that reads its outcome.
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/own_postgres.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

/// The name of a transaction that is fenced with a lease on a key of `locks`.
std::string name_of(pqxx::work& work, lock_table& locks, const table_name& table) {
  const auto held = locks.try_acquire({"job", make_owner_id().text});
  return row_transaction<pqxx::work>::prove_named(work, *held, {}, table);
}

class PostgresDoubt : public postgres_table {
 protected:
  PostgresDoubt() {
    server_.query("create table " + schema() + ".counter as select 0 as n");
    const auto [host, port] = address_of();
    proxy_.emplace(host, port);
    connection_ = std::make_unique<pqxx::connection>(url_through(*proxy_));
  }

  int count() { return server_.value<int>("select n from " + schema() + ".counter"); }

  /// Counts one, as an application whose connection is about to fail.
  int count_fenced(
      const fenced_run_options& options, const std::function<void()>& then = [] {}) {
    return run_fenced<pqxx::work>(
        *connection_, held_,
        [&](pqxx::work& work) {
          work.exec("update " + schema() + ".counter set n = n + 1");
          then();
          return 42;
        },
        options, table());
  }

  postgres_store rows_{postgres_url(), {.table = table()}};
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  lease held_ = *locks_.try_acquire(key_);
  std::optional<tcp_proxy> proxy_;
  std::unique_ptr<pqxx::connection> connection_;
  const postgres_witness witness_{postgres_url()};
};

TEST_F(PostgresDoubt, StaysADoubtIfNobodyIsAsked) {
  proxy_->swallow_reply("COMMIT");
  EXPECT_EQ(error_of([&] { count_fenced({}); }).kind, errc::outcome_unknown);
  EXPECT_EQ(proxy_->swallowed(), 1U);
  EXPECT_EQ(count(), 1);
}

TEST_F(PostgresDoubt, IsResolvedWhenTheCommitHappened) {
  for (const auto kind : {fence_kind::write, fence_kind::share}) {
    connection_ = std::make_unique<pqxx::connection>(url_through(*proxy_));
    proxy_->swallow_reply("COMMIT");
    const auto before = count();
    EXPECT_EQ(count_fenced({.fence = {.kind = kind}, .in_doubt = witness_}), 42);
    EXPECT_EQ(count(), before + 1);
  }
  EXPECT_EQ(proxy_->swallowed(), 2U);
}

TEST_F(PostgresDoubt, IsResolvedForAReleaseThatRodeInTheTransaction) {
  proxy_->swallow_reply("COMMIT");
  EXPECT_EQ(count_fenced({.release = true, .in_doubt = witness_}), 42);
  EXPECT_FALSE(held_.is_valid());
  EXPECT_EQ(held_.release(), release_result::released);
}

TEST_F(PostgresDoubt, IsUnavailableWhenTheCommitDidNotHappen) {
  const auto caught = error_of(
      [&] { count_fenced({.fence_first = true, .in_doubt = witness_}, [&] { proxy_->reset(); }); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("rolled back"), std::string::npos) << caught.message();
  EXPECT_EQ(count(), 0);
  EXPECT_TRUE(held_.is_valid());

  connection_ = std::make_unique<pqxx::connection>(url_through(*proxy_));
  EXPECT_EQ(count_fenced({.in_doubt = witness_}), 42);
  EXPECT_EQ(count(), 1);
}

TEST_F(PostgresDoubt, StaysADoubtWhenTheWitnessCannotTell) {
  proxy_->swallow_reply("COMMIT");
  const auto caught = error_of([&] {
    count_fenced({.in_doubt = postgres_witness{"host=/no/such/folder", 20ms}});
  });
  EXPECT_EQ(caught.kind, errc::outcome_unknown);
}

TEST_F(PostgresDoubt, AsksWithAConnectionOfTheApplicationToo) {
  const postgres_witness witness{[] { return std::make_unique<pqxx::connection>(postgres_url()); }};
  proxy_->swallow_reply("COMMIT");
  EXPECT_EQ(count_fenced({.in_doubt = witness}), 42);
}

TEST_F(PostgresDoubt, AsksAgainWhileTheTransactionIsInProgress) {
  open_work open;
  const auto name = name_of(open.work, locks_, table());
  EXPECT_EQ((postgres_witness{postgres_url(), 30ms}(name)), commit_fate::unknown);

  auto reading = std::async(std::launch::async, [&] { return witness_(name); });
  server_.await(
      "select exists (select from pg_stat_activity where query like '%pg_xact_status%'"
      " and pid <> pg_backend_pid())");
  open.work.commit();
  EXPECT_EQ(reading.get(), commit_fate::committed);
}

TEST_F(PostgresDoubt, AboutATransactionThatRolledBackIsResolved) {
  open_work open;
  const auto name = name_of(open.work, locks_, table());
  open.work.abort();
  EXPECT_EQ(witness_(name), commit_fate::rolled_back);
}

TEST_F(PostgresDoubt, AboutATransactionThatTheServerDoesNotKnowIsNotResolved) {
  open_work open;
  const auto name = name_of(open.work, locks_, table());
  open.work.commit();
  ASSERT_EQ(witness_(name), commit_fate::committed);
  const auto life = name.substr(name.find(' '));
  EXPECT_EQ(witness_("9000000000000000" + life), commit_fate::unknown);
  EXPECT_EQ(witness_(name + "1"), commit_fate::unknown);
  EXPECT_EQ(witness_("nonsense"), commit_fate::unknown);
  EXPECT_EQ(witness_(""), commit_fate::unknown);
}

// After it the id may be given to another transaction, if it was not in the log yet.
TEST(PostgresDoubtAfterACrash, IsNotResolved) {
  const own_postgres server;
  migrate_postgres(server.url());
  postgres_store rows{server.url()};
  lock_table locks{rows, {.ttl = 1h, .renew = false}};
  const postgres_witness witness{server.url()};
  open_work open{server.url()};
  const auto name = name_of(open.work, locks, {});
  open.work.commit();
  ASSERT_EQ(witness(name), commit_fate::committed);
  server.crash();
  EXPECT_EQ(witness(name), commit_fate::unknown);
}

TEST(PostgresWitness, OfAConnectionStringThatIsNoneIsMisuse) {
  EXPECT_EQ(error_of([] {
              postgres_witness{"host="};
              postgres_witness{"nonsense"};
            }).kind,
            errc::misuse);
}

}  // namespace
}  // namespace rowlock::tests
