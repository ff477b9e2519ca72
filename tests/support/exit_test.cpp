// The end of a program whose lock_table is in a static.
#include "conformance/store_test.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {
namespace {

class Exit : public store_test {
 protected:
  void expect_to_say(const std::string& what, std::vector<std::string> arguments) {
    auto command = bench_->contender();
    command.front() = ROWLOCK_EXITING_PROGRAM;
    command.insert(command.end(), arguments.begin(), arguments.end());
    child_process program{command};
    EXPECT_EQ(program.read_rest(), what);
    EXPECT_EQ(program.wait(), 0) << program.errors();
    EXPECT_FALSE(row(key_).owned);
  }
};

TEST_P(Exit, FromAThreadDestroysNothingThatALockTableInAStaticNeeds) {
  expect_to_say("released\nlocked\n", {key_.type, key_.source_id});
}

TEST_P(Exit, ReleasesThroughADriverThatWasFirstUsedByTheStore) {
  expect_to_say("released\n", {key_.type, key_.source_id, "lease"});
}

INSTANTIATE_TEST_SUITE_P(Stores, Exit, testing::ValuesIn(stores_shared_between_processes()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
