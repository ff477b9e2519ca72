// Leader election, on every store.
#include "rowlock/leader.hpp"

#include <future>
#include <stop_token>
#include <utility>

#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

/// Candidates whose campaigns begin, and whose terms end, at the command of the test.
class Leader : public store_test {
 protected:
  struct candidate {
    explicit candidate(store& rows, std::string label)
        : locks{rows, {.ttl = 1h, .holder = std::move(label)}} {}
    candidate(const candidate&) = delete;
    candidate& operator=(const candidate&) = delete;
    ~candidate() { stop.request_stop(); }

    void campaign(const lock_key& key) {
      ended = std::async(std::launch::async, [this, key] {
        const auto lead = [this](const lease& term, const std::stop_token& over) {
          elected.set_value(term.token());
          std::promise<void> caught;
          const std::stop_callback at_end{over, [&caught] { caught.set_value(); }};
          caught.get_future().wait();
        };
        run_while_leader(locks, key, stop.get_token(), lead, {.pauses = {.longest_pause = 20ms}});
      });
    }

    lock_table locks;
    std::stop_source stop;
    std::promise<version> elected;
    std::future<void> ended;
  };
};

TEST_P(Leader, IsFollowedByTheNextWithAGreaterTerm) {
  candidate first{*rows_, "first"};
  first.campaign(key_);
  const auto term = first.elected.get_future().get();
  EXPECT_EQ(leader_of(*rows_, key_)->holder, "first");

  candidate second{*rows_, "second"};
  second.campaign(key_);
  first.stop.request_stop();
  first.ended.get();
  const auto next = second.elected.get_future().get();
  EXPECT_GT(next, term);
  EXPECT_EQ(leader_of(*rows_, key_)->holder, "second");
  EXPECT_EQ(leader_of(*rows_, key_)->term, next);

  second.stop.request_stop();
  second.ended.get();
  EXPECT_FALSE(leader_of(*rows_, key_));
  EXPECT_EQ(row(key_).failure_count, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, Leader, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
