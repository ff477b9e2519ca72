// The MariaDB that can be crashed.
#include "support/own_mariadb.hpp"

#include <gtest/gtest.h>

#include "support/mariadb_line.hpp"

namespace rowlock::tests {
namespace {

TEST(OwnMariadb, LosesItsConnectionsAndKeepsWhatWasCommittedWhenItCrashes) {
  const own_mariadb server;
  mariadb_line connection{server.url()};
  connection.execute("create table kept as select 42 as n");
  connection.execute("begin");
  connection.execute("insert into kept values (43)");
  server.crash();
  EXPECT_THROW(connection.execute("commit"), mariadb_error);

  mariadb_line next{server.url()};
  EXPECT_EQ(next.number("select group_concat(n) from kept"), 42);
}

}  // namespace
}  // namespace rowlock::tests
