// The three ways to have a key exclude each other, in every combination, between processes.
#include <csignal>
#include <string>

#include "conformance/exclusion_cell.hpp"
#include "conformance/store_test.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {
namespace {

class ExclusionBetweenProcesses : public testing::TestWithParam<exclusion_cell> {
 protected:
  [[nodiscard]] std::vector<std::string> contender(mode how) const {
    auto command = bench_->contender();
    for (const auto& argument : {mode_name(how), std::string{"invoice"}, std::string{"42"}}) {
      command.push_back(argument);
    }
    return command;
  }

  static std::string first_word(child_process& process) {
    const auto line = process.read_line().value_or("nothing: " + process.errors());
    return line.substr(0, line.find(' '));
  }

  const std::unique_ptr<store_bench> bench_ = std::get<0>(GetParam()).make();
  const mode holding_ = std::get<1>(GetParam());
  const mode contending_ = std::get<2>(GetParam());
};

TEST_P(ExclusionBetweenProcesses, RefusesTheContenderUntilTheHolderEnds) {
  child_process holder{contender(holding_)};
  ASSERT_EQ(first_word(holder), "acquired");
  {
    child_process refused{contender(contending_)};
    EXPECT_EQ(first_word(refused), "refused");
    EXPECT_EQ(refused.wait(), 0) << refused.errors();
  }
  holder.write_line("release");
  EXPECT_EQ(first_word(holder), "ended") << holder.errors();
  EXPECT_EQ(holder.wait(), 0);

  child_process next{contender(contending_)};
  EXPECT_EQ(first_word(next), "acquired");
  next.close_input();
  EXPECT_EQ(first_word(next), "ended") << next.errors();
}

// A transaction ends with its process; a lease does not, it has to run out.
TEST_P(ExclusionBetweenProcesses, EndsWithTheHoldersTransactionOrLeaseWhenItIsKilled) {
  child_process holder{contender(holding_)};
  ASSERT_EQ(first_word(holder), "acquired");
  holder.send_signal(SIGKILL);
  EXPECT_EQ(holder.wait(), 128 + SIGKILL);
  if (holding_ == mode::lease) {
    child_process refused{contender(contending_)};
    EXPECT_EQ(first_word(refused), "refused");
    EXPECT_EQ(refused.wait(), 0);
    bench_->run_out({"invoice", "42"});
  }
  // The server needs a moment to see that its client is gone.
  std::string answer;
  await_that([&] {
    child_process next{contender(contending_)};
    answer = first_word(next);
    return answer != "refused";
  });
  EXPECT_EQ(answer, "acquired");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExclusionBetweenProcesses);
INSTANTIATE_TEST_SUITE_P(Stores, ExclusionBetweenProcesses,
                         testing::ValuesIn(every_cell_of(stores_shared_between_processes())),
                         name_of_cell);

}  // namespace
}  // namespace rowlock::tests
