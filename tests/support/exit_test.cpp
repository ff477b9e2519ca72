// The end of a program whose lock_table is in a static.
#include "conformance/store_test.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {
namespace {

class Exit : public store_test {};

TEST_P(Exit, FromAThreadDestroysNothingThatALockTableInAStaticNeeds) {
  auto command = bench_->contender();
  command.front() = ROWLOCK_EXITING_PROGRAM;
  command.insert(command.end(), {key_.type, key_.source_id});
  child_process program{command};
  EXPECT_EQ(program.read_rest(), "released\nlocked\n");
  EXPECT_EQ(program.wait(), 0) << program.errors();
  EXPECT_FALSE(row(key_).owned);
}

INSTANTIATE_TEST_SUITE_P(Stores, Exit, testing::ValuesIn(stores_shared_between_processes()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
