// The server that can be crashed.
#include "support/own_postgres.hpp"

#include <gtest/gtest.h>

#include <pqxx/pqxx>

namespace rowlock::tests {
namespace {

TEST(OwnPostgres, LosesItsConnectionsAndKeepsWhatWasCommittedWhenItCrashes) {
  const own_postgres server;
  pqxx::connection connection{server.url()};
  {
    pqxx::work work{connection};
    work.exec("create table kept as select 42 as n");
    work.commit();
  }
  pqxx::work open{connection};
  open.exec("insert into kept values (43)");
  server.crash();
  EXPECT_THROW(open.commit(), pqxx::failure);

  pqxx::connection next{server.url()};
  pqxx::nontransaction reader{next};
  const auto found = reader.exec("select n from kept");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0][0].as<int>(), 42);
}

}  // namespace
}  // namespace rowlock::tests
