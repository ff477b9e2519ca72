// Processes die, stop and lose their database at random moments, and nothing is lost.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "faults/faults_on.hpp"

namespace rowlock::tests {
namespace {

struct ground_kind {
  std::string name;
  std::function<std::unique_ptr<proving_ground>()> make;
  /// Its run is that much smaller: what it could find, another ground finds with the same SQL.
  unsigned divisor = 1;
};

std::ostream& operator<<(std::ostream& out, const ground_kind& shown) { return out << shown.name; }

class Faults : public testing::TestWithParam<ground_kind> {
 protected:
  faults_on trials_{GetParam().make()};
};

TEST_P(Faults, LoseNoUpdateAndLetNoFormerHolderCommit) {
  for (const auto& size : sizes_from_environment(GetParam().divisor)) {
    trials_.expect_nothing_lost(size);
  }
}

TEST_P(Faults, AreCaughtByTheCheckersWhenNobodyFences) {
  trials_.expect_to_be_caught_without_a_fence();
}

constexpr unsigned a_tenth = 10;

INSTANTIATE_TEST_SUITE_P(
    On, Faults,
    testing::Values(ground_kind{"postgres", make_postgres_ground},
                    ground_kind{"sqlite", make_sqlite_ground},
                    ground_kind{"mariadb", make_mariadb_ground},
                    ground_kind{"soci_postgres", make_soci_postgres_ground, a_tenth},
                    ground_kind{"soci_sqlite", make_soci_sqlite_ground, a_tenth}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace rowlock::tests
