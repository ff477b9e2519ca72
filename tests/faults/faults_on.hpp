// Runs on one ground, and what must hold after them.
#ifndef ROWLOCK_TESTS_FAULTS_FAULTS_ON_HPP
#define ROWLOCK_TESTS_FAULTS_FAULTS_ON_HPP

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "faults/books.hpp"
#include "faults/checkers.hpp"
#include "faults/fault_run.hpp"

namespace rowlock::tests {

class faults_on {
 public:
  explicit faults_on(std::unique_ptr<proving_ground> ground) : ground_{std::move(ground)} {
    create_books(*open_books(ground_->url()));
  }

  void expect_nothing_lost(const run_size& size) {
    clear_books(*open_books(ground_->url()));
    fault_run trial{*ground_, size, fencing::on};
    trial.make_things_go_wrong();
    expect_none("not acquirable", trial.keys_left_taken());
    expect_none("left over", trial.connections_left());
    expect_none("reported by the database", ground_->complaints());

    const auto seen = trial.what_happened();
    expect_none("lost commit", lost_commits(seen));
    expect_none("lost update", lost_updates(seen));
    expect_none("order", versions_out_of_order(seen));
    expect_none("commit after takeover", commits_after_takeover(seen));
    expect_none("overlap", overlapping_beliefs(seen));
    EXPECT_EQ(trial.score().late_commits, 0U);
    constexpr std::uint64_t by_chance = 5;  // of ten tries that a small run makes, more may fail
    EXPECT_GE((trial.score().late_refusals + by_chance) * 10, trial.score().late_tries * 8)
        << "most must get as far as the fence";
    std::cout << trial.totals() << "\n  " << violations_ << " violations" << std::endl;
  }

  /// A thread that is late by design waits, half of the time, until the next holder has committed:
  /// then all checkers of commits must see it.
  void expect_to_be_caught_without_a_fence() {
    fault_run trial{*ground_, {.acquisitions = 500, .kills = 10, .late_tries = 60}, fencing::off};
    trial.make_things_go_wrong();
    trial.keys_left_taken();
    const auto seen = trial.what_happened();
    EXPECT_GT(trial.score().late_commits, 0U);
    EXPECT_NE(lost_updates(seen).size(), 0U);
    EXPECT_NE(versions_out_of_order(seen).size(), 0U);
    EXPECT_NE(commits_after_takeover(seen).size(), 0U);
    std::cout << "without a fence: " << trial.totals()
              << "\n  caught: " << lost_updates(seen).size() << " counters with lost updates, "
              << versions_out_of_order(seen).size() << " versions out of order, "
              << commits_after_takeover(seen).size() << " holders with a past that changed"
              << std::endl;
  }

 private:
  void expect_none(const char* of_what, const std::vector<std::string>& found) {
    constexpr std::size_t shown = 5;
    for (std::size_t i = 0; i < found.size() && i < shown; ++i) {
      ADD_FAILURE() << of_what << ": " << found[i];
    }
    violations_ += found.size();
  }

  const std::unique_ptr<proving_ground> ground_;
  std::size_t violations_ = 0;
};

}  // namespace rowlock::tests

#endif
