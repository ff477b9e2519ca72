// The cluster does what its tests rely on.
#include <gtest/gtest.h>

#include <future>

#include "cluster/cluster_test.hpp"

namespace rowlock::tests {
namespace {

class GaleraCluster : public cluster_test {
 protected:
  GaleraCluster() {
    first_.execute("create or replace table kept (n int primary key, written int not null)");
    first_.execute("insert into kept values (1, 0)");
    EXPECT_EQ(written_at(second_), 0);
  }

  /// What the node shows once it has applied all that was committed before.
  static std::int64_t written_at(mariadb_line& line) {
    line.execute("set session wsrep_sync_wait = 1");
    const auto found = line.number("select written from kept");
    line.execute("set session wsrep_sync_wait = 0");
    return found;
  }

  static unsigned error_of(mariadb_line& line, const std::string& sql) {
    try {
      line.execute(sql);
      return 0;
    } catch (const mariadb_error& thrown) {
      return thrown.number();
    }
  }

  mariadb_line first_ = cluster().connect(0);
  mariadb_line second_ = cluster().connect(1);
};

constexpr unsigned deadlock = 1213;
constexpr unsigned not_prepared = 1047;

TEST_F(GaleraCluster, ShowsEveryNodeWhatIsWrittenAtAnother) {
  second_.execute("update kept set written = 1");
  EXPECT_EQ(written_at(first_), 1);
  auto third = cluster().connect(2);
  EXPECT_EQ(written_at(third), 1);
}

TEST_F(GaleraCluster, GoesOnWithoutANodeThatIsKilledAndBringsItBack) {
  cluster().kill(2);
  first_.execute("update kept set written = 1");
  cluster().restart(2);
  auto third = cluster().connect(2);
  EXPECT_EQ(written_at(third), 1);
}

TEST_F(GaleraCluster, GoesOnWithoutANodeThatStandsStill) {
  cluster().freeze(2);
  first_.execute("update kept set written = 1");
  cluster().thaw(2);
  auto third = cluster().connect(2);
  EXPECT_EQ(written_at(third), 1);
}

TEST_F(GaleraCluster, GoesOnIfTheOthersLoseEachOtherWhileANodeStandsStill) {
  cluster().pause(1);
  auto resumed = std::async(std::launch::async, [] {
    cluster().await_refusal(0);
    cluster().resume(1);
  });
  cluster().freeze(2);
  resumed.get();
  first_.execute("update kept set written = 1");
  cluster().thaw(2);
  auto third = cluster().connect(2);
  EXPECT_EQ(written_at(third), 1);
}

TEST_F(GaleraCluster, RefusesAtANodeThatIsCutOff) {
  cluster().isolate(1);
  EXPECT_EQ(error_of(second_, "update kept set written = 1"), not_prepared);
  first_.execute("update kept set written = 2");
  cluster().reconnect(1);
  EXPECT_EQ(written_at(second_), 2);
}

TEST_F(GaleraCluster, ShowsOldRowsAtANodeWhoseApplierIsHeld) {
  cluster().hold_appliers(1);
  first_.execute("update kept set written = 1");
  EXPECT_EQ(second_.number("select written from kept"), 0);
  cluster().release_appliers(1);
  EXPECT_EQ(written_at(second_), 1);
}

TEST_F(GaleraCluster, LetsTheSecondOfTwoWritersOfARowFail) {
  first_.execute("begin");
  first_.execute("update kept set written = 1");
  second_.execute("begin");
  second_.execute("update kept set written = 2");
  first_.execute("commit");
  EXPECT_EQ(error_of(second_, "commit"), deadlock);
}

}  // namespace
}  // namespace rowlock::tests
