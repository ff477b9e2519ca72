// A release that comes late: it ends its own grant and no other.
#include <string>

#include "faults/counter_schedule.hpp"
#include "faults/weakened_store.hpp"

namespace rowlock::tests {
namespace {

class LateRelease : public counter_schedule {
 protected:
  /// Unsets what `condition` finds, whatever version it has.
  [[nodiscard]] weakened_store releasing_where(const std::string& condition) {
    return weakened_store{
        rows_, {.release = [this, condition](const release_request& request) {
          const auto unset = server_.query(
              "update " + name() + " set owner = null, holder = null, expires_at = 'epoch'" +
              row(request.key) + condition);
          return unset.affected_rows() == 1 ? change_answer::done : change_answer::lost;
        }}};
  }

  /// An ex-holder releases after another has taken over; whether a third is let in.
  bool third_is_let_in_after_release_of_the_first(store& first_rows) {
    lock_table first_locks{first_rows, {.ttl = 1h, .renew = false}};
    lease first = *first_locks.try_acquire(key_);
    let_lease_run_out();
    const lease second = acquire_lease();
    first.release();
    EXPECT_TRUE(second.is_valid());
    return locks_.try_acquire(key_).acquired();
  }

  /// One attempt was granted twice, the first grant having run out; then the release of the first
  /// arrives. Whether another is let in under the second.
  bool other_is_let_in_after_release_of_the_first(store& rows) {
    const auto first = acquire(rows, key_);
    let_lease_run_out();
    const auto second = acquire(rows, key_);
    EXPECT_GT(second.version, first.version);
    release(rows, key_, *first.version);
    return locks_.try_acquire(key_).acquired();
  }
};

TEST_F(LateRelease, LeavesTheSuccessorItsKey) {
  EXPECT_FALSE(third_is_let_in_after_release_of_the_first(rows_));
}

TEST_F(LateRelease, ByTheKeyAloneIsCaught) {
  auto weak = releasing_where("");
  EXPECT_TRUE(third_is_let_in_after_release_of_the_first(weak));
}

TEST_F(LateRelease, LeavesALaterGrantOfItsOwnAttempt) {
  EXPECT_FALSE(other_is_let_in_after_release_of_the_first(rows_));
}

TEST_F(LateRelease, ByTheOwnerAloneIsCaught) {
  auto weak = releasing_where(" and owner = '" + mine_.text + "'");
  EXPECT_TRUE(other_is_let_in_after_release_of_the_first(weak));
}

}  // namespace
}  // namespace rowlock::tests
