// What a callback may do with the transaction that it is given.
#include <gtest/gtest.h>

#include <chrono>

#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class LentTransaction : public testing::Test {
 protected:
  memory_store rows_;
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  lease held_ = *locks_.try_acquire({"job", "1"});
  const lock_key other_{"job", "2"};
};

TEST_F(LentTransaction, IsNotCommittedByFencedWork) {
  EXPECT_THROW(run_fenced<memory_transaction>(rows_, held_,
                                              [&](memory_transaction& work) {
                                                (void)lock_rows(work, other_, no_wait());
                                                work.commit();
                                              }),
               error);
  EXPECT_FALSE(rows_.read(std::array{other_}).front());
}

TEST_F(LentTransaction, IsRolledBackQuietlyByFencedWorkAndTheLeaseStays) {
  const auto abort = [&](memory_transaction& work) {
    (void)lock_rows(work, other_, no_wait());
    work.abort();
    return 7;
  };
  EXPECT_EQ(run_fenced<memory_transaction>(rows_, held_, abort, {.release = true}), 7);
  EXPECT_FALSE(rows_.read(std::array{other_}).front());
  EXPECT_TRUE(held_.is_valid());
  EXPECT_EQ(held_.release(), release_result::released);
}

}  // namespace
}  // namespace rowlock::tests
