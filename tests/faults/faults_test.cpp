// Processes die, stop and lose their database at random moments, and nothing is lost.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "faults/books.hpp"
#include "faults/checkers.hpp"
#include "faults/fault_run.hpp"

namespace rowlock::tests {
namespace {

struct ground_kind {
  std::string name;
  std::function<std::unique_ptr<proving_ground>()> make;
};

std::ostream& operator<<(std::ostream& out, const ground_kind& shown) { return out << shown.name; }

class Faults : public testing::TestWithParam<ground_kind> {
 protected:
  Faults() { create_books(*open_books(ground_->url())); }

  void expect_none(const char* of_what, const std::vector<std::string>& found) {
    constexpr std::size_t shown = 5;
    for (std::size_t i = 0; i < found.size() && i < shown; ++i) {
      ADD_FAILURE() << of_what << ": " << found[i];
    }
    violations_ += found.size();
  }

  void run(const run_size& size) {
    clear_books(*open_books(ground_->url()));
    fault_run trial{*ground_, size, fencing::on};
    trial.make_things_go_wrong();
    expect_none("not acquirable", trial.keys_left_taken());
    expect_none("left over", trial.connections_left());

    const auto seen = trial.what_happened();
    expect_none("lost update", lost_updates(seen));
    expect_none("order", versions_out_of_order(seen));
    expect_none("commit after takeover", commits_after_takeover(seen));
    expect_none("overlap", overlapping_beliefs(seen));
    EXPECT_EQ(trial.score().late_commits, 0U);
    EXPECT_GE(trial.score().late_refusals * 10, trial.score().late_tries * 8)
        << "most must get as far as the fence";
    std::cout << trial.totals() << "\n  " << violations_ << " violations" << std::endl;
  }

  const std::unique_ptr<proving_ground> ground_ = GetParam().make();
  std::size_t violations_ = 0;
};

TEST_P(Faults, LoseNoUpdateAndLetNoFormerHolderCommit) {
  for (const auto& size : sizes_from_environment()) run(size);
}

// Whoever is late by design waits, half of the time, until the next holder has committed: then all
// checkers of commits must see it.
TEST_P(Faults, AreCaughtByTheCheckersWhenNobodyFences) {
  fault_run trial{*ground_, {.acquisitions = 500, .kills = 10, .late_tries = 60}, fencing::off};
  trial.make_things_go_wrong();
  trial.keys_left_taken();
  const auto seen = trial.what_happened();
  EXPECT_GT(trial.score().late_commits, 0U);
  EXPECT_NE(lost_updates(seen).size(), 0U);
  EXPECT_NE(versions_out_of_order(seen).size(), 0U);
  EXPECT_NE(commits_after_takeover(seen).size(), 0U);
  std::cout << "without a fence: " << trial.totals() << "\n  caught: " << lost_updates(seen).size()
            << " counters with lost updates, " << versions_out_of_order(seen).size()
            << " versions out of order, " << commits_after_takeover(seen).size()
            << " holders with a past that changed" << std::endl;
}

INSTANTIATE_TEST_SUITE_P(On, Faults,
                         testing::Values(ground_kind{"postgres", make_postgres_ground},
                                         ground_kind{"sqlite", make_sqlite_ground}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace rowlock::tests
