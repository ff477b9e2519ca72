// An acquisition is answered alike, whatever the ones before it have found.
#include <string>
#include <tuple>

#include "postgres/postgres_table.hpp"

namespace rowlock::tests {
namespace {

constexpr auto skew = 30s;

/// What the session has found before, or the row is like.
enum class found { nothing, free, held, missing };
enum class row_is { free, held, mine, ran_out, ran_out_just_now, closed, missing };

class PostgresLastFound : public postgres_table,
                          public testing::WithParamInterface<std::tuple<found, row_is>> {
 protected:
  void SetUp() override {
    make_row(std::get<row_is>(GetParam()));
    switch (std::get<found>(GetParam())) {
      case found::nothing:
        return;
      case found::free:
        take_and_release(other_key_);  // it was missing
        take_and_release(other_key_);
        return;
      case found::held:
        ASSERT_EQ(acquire_as("theirs", other_key_).status, acquire_status::granted);
        ASSERT_EQ(acquire(rows_, other_key_).status, acquire_status::held);
        return;
      case found::missing:
        ASSERT_EQ(acquire(rows_, other_key_).status, acquire_status::granted);
        return;
    }
  }

  void make_row(row_is what) {
    if (what == row_is::missing) return;
    if (what == row_is::free || what == row_is::closed) {
      const auto held = acquire_as("theirs", key_);
      theirs_.release(std::array{release_request{.key = key_,
                                                 .owner = their_owner_,
                                                 .version = *held.version,
                                                 .stay_closed = what == row_is::closed ? 1h : 0s}});
    } else if (what == row_is::mine) {
      mine_before_ = acquire(theirs_, key_).version;
    } else {
      acquire_as("theirs", key_);
      if (what == row_is::ran_out) run_out(skew + 1s);
      if (what == row_is::ran_out_just_now) run_out(1s);
    }
  }
  void run_out(std::chrono::seconds ago) {
    server_.query("update " + name() + " set expires_at = clock_timestamp() - interval '" +
                  std::to_string(ago.count()) + " seconds'" + row(key_));
  }
  acquire_answer acquire_as(const std::string& holder, const lock_key& key) {
    return theirs_
        .acquire(std::array{
            acquire_request{.key = key, .owner = their_owner_, .holder = holder, .ttl = 1h}})
        .front();
  }
  void take_and_release(const lock_key& key) {
    const auto granted = acquire(rows_, key);
    ASSERT_EQ(granted.status, acquire_status::granted);
    ASSERT_EQ(release(rows_, key, *granted.version), change_answer::done);
  }

  const owner_id their_owner_ = make_owner_id();
  postgres_store theirs_{postgres_url(), {.table = table(), .pool_size = 1}};
  postgres_store rows_{postgres_url(), {.table = table(), .pool_size = 1, .clock_skew = skew}};
  std::optional<version> mine_before_;
};

INSTANTIATE_TEST_SUITE_P(
    All, PostgresLastFound,
    testing::Combine(testing::Values(found::nothing, found::free, found::held, found::missing),
                     testing::Values(row_is::free, row_is::held, row_is::mine, row_is::ran_out,
                                     row_is::ran_out_just_now, row_is::closed, row_is::missing)));

TEST_P(PostgresLastFound, ChangesNoAnswer) {
  const auto answer = acquire(rows_, key_);
  switch (std::get<row_is>(GetParam())) {
    case row_is::free:
    case row_is::missing:
      EXPECT_EQ(answer.status, acquire_status::granted);
      EXPECT_FALSE(answer.took_over_expired);
      break;
    case row_is::mine:
      EXPECT_EQ(answer.status, acquire_status::granted);
      EXPECT_EQ(answer.version, mine_before_);
      break;
    case row_is::held:
      EXPECT_EQ(answer.status, acquire_status::held);
      EXPECT_EQ(answer.holder, "theirs");
      EXPECT_GT(answer.remaining.value(), 1h - 10min);
      EXPECT_LE(answer.remaining.value(), 1h + skew);
      break;
    case row_is::closed:
      EXPECT_EQ(answer.status, acquire_status::held);
      EXPECT_GT(answer.remaining.value(), 1h - 10min);
      break;
    case row_is::ran_out:
      EXPECT_EQ(answer.status, acquire_status::granted);
      EXPECT_TRUE(answer.took_over_expired);
      EXPECT_EQ(answer.holder, "theirs");
      break;
    case row_is::ran_out_just_now:
      EXPECT_EQ(answer.status, acquire_status::held);
      EXPECT_EQ(answer.holder, "theirs");
      EXPECT_LE(answer.remaining.value(), skew - 1s);
      break;
  }
}

}  // namespace
}  // namespace rowlock::tests
