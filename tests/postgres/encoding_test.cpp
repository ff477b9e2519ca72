// Transactions of the application whose connection has another encoding than UTF8.
#include <functional>
#include <vector>

#include "postgres/postgres_transaction.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class PostgresEncoding : public PostgresTransaction {
 protected:
  const lock_key umlaut_{.type = "invoice", .source_id = "M\u00fcller"};
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
};

TEST_F(PostgresEncoding, ThatWouldMakeAKeyAnotherOneIsMisuse) {
  const lease held = *locks_.try_acquire(umlaut_);
  open_work open;
  open.work.exec("set client_encoding to 'LATIN1'");
  const std::vector<std::function<void()>> calls{
      [&] { (void)lock(open.work, umlaut_); },
      [&] {
        (void)lock(open.work, {key_, umlaut_});
      },
      [&] { (void)read_version(open.work, umlaut_, table()); },
      [&] { (void)try_commit(open.work, umlaut_, {1}, table()); },
      [&] { fence(open.work, held, {}, table()); },
      [&] { release_with(open.work, held, {}, table()); }};
  for (const auto& call : calls) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_NE(caught.message().find("client_encoding is LATIN1: SET client_encoding TO 'UTF8'"),
              std::string::npos)
        << caught.message();
  }
  // Nothing was sent, so the transaction goes on.
  EXPECT_TRUE(lock(open.work, key_).acquired()) << "which is ASCII";
  open.work.exec("set client_encoding to 'UTF8'");
  EXPECT_EQ(lock(open.work, umlaut_).refusal().reason, refusal_reason::held);
  release_with(open.work, held, {}, table());
  open.work.commit();
}

TEST_F(PostgresEncoding, OfAConnectionThatTheApplicationMakesForAStoreIsUtf8) {
  const lease held = *locks_.try_acquire(umlaut_);
  postgres_store theirs{[] {
                          auto made = std::make_unique<pqxx::connection>(postgres_url());
                          made->set_client_encoding("LATIN1");
                          return made;
                        },
                        {.table = table()}};
  lock_table others{theirs};
  EXPECT_EQ(others.try_acquire(umlaut_).refusal().reason, refusal_reason::held);
  EXPECT_EQ(theirs.list().size(), 1U);
}

TEST_F(PostgresEncoding, ThatWouldMakeAKeyAnotherOneEndsWithRowLockBeforeTheCallback) {
  pqxx::connection connection{postgres_url()};
  connection.set_client_encoding("LATIN1");
  const auto caught = error_of([&] {
    (void)with_row_lock<pqxx::work>(
        connection, umlaut_, no_wait(), [](pqxx::work&) { ADD_FAILURE(); }, table());
  });
  EXPECT_EQ(caught.kind, errc::misuse);
  const pqxx::work another{connection};
}

}  // namespace
}  // namespace rowlock::tests
