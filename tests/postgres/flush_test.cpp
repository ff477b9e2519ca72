// Which statements wait until the disk has their commit.
#include <optional>

#include "rowlock/lock_table.hpp"
#include "support/recorded_commits.hpp"

namespace rowlock::tests {
namespace {

using settings = std::vector<std::string>;

class PostgresFlush : public postgres_table {
 protected:
  /// One connection: what a release sets would be seen by whatever comes after it.
  postgres_store rows_{postgres_url(), {.table = table(), .pool_size = 1}};

  version granted(const lock_key& key) { return *acquire(rows_, key).version; }
  release_request ended(const lock_key& key) { return {key, mine_, granted(key)}; }

  const std::string normal_ = server_.value<std::string>("show synchronous_commit");
  recorded_commits commits_{server_, name()};
};

TEST_F(PostgresFlush, IsLeftOutForReleasesAlone) {
  const auto first = granted(key_);
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a grant of a new row";
  EXPECT_EQ(renew(rows_, key_, first), change_answer::done);
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a renewal";
  EXPECT_EQ(release(rows_, key_, first), change_answer::done);
  EXPECT_EQ(commits_.take(), settings{"off"}) << "a release";

  const auto second = granted(key_);
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a grant after a release";
  const auto third = rows_.handoff({{key_, mine_, second}, request(key_)}).granted;
  ASSERT_TRUE(third);
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a handoff";
  EXPECT_EQ(rows_.write_note({key_, mine_, *third, "half way"}), change_answer::done);
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a note";
  EXPECT_EQ(rows_.force_release({key_, *third, "a test"}), force_answer::released);
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a release by force";
}

TEST_F(PostgresFlush, IsLeftOutForReleasesOfManyToo) {
  const auto grants = rows_.acquire(std::array{request(key_), request(other_key_)});
  EXPECT_EQ(commits_.take(), (settings{normal_, normal_}));
  rows_.release(std::array{release_request{key_, mine_, *grants[0].version},
                           release_request{other_key_, mine_, *grants[1].version}});
  EXPECT_EQ(commits_.take(), (settings{"off", "off"}));
}

TEST_F(PostgresFlush, IsMadeWhereMoreThanADelayWouldBeLost) {
  auto done = ended(key_);
  done.done_for = 1h;
  auto closed = ended(other_key_);
  closed.stay_closed = 1h;
  const lock_key third_key{.type = "invoice", .source_id = "44"};
  const lock_key fourth_key{.type = "invoice", .source_id = "45"};
  auto done_too = ended(third_key);
  done_too.done_for = 1h;
  const auto plain = ended(fourth_key);
  commits_.take();

  rows_.release(std::array{done});
  EXPECT_EQ(commits_.take(), settings{normal_}) << "work that is remembered as done";
  rows_.release(std::array{closed});
  EXPECT_EQ(commits_.take(), settings{normal_}) << "a row that stays closed";
  rows_.release(std::array{plain, done_too});
  EXPECT_EQ(commits_.take(), (settings{normal_, normal_})) << "one of two is done";

  auto closed_too = ended(fourth_key);
  closed_too.stay_closed = 1h;
  const auto last = ended({.type = "invoice", .source_id = "46"});
  commits_.take();
  rows_.release(std::array{last, closed_too});
  EXPECT_EQ(commits_.take(), (settings{normal_, normal_})) << "one of two stays closed";
}

TEST_F(PostgresFlush, IsMadeForDurableReleases) {
  auto one = ended(key_);
  one.durable = true;
  auto failed = ended(other_key_);
  failed.durable = true;
  failed.failed = true;
  commits_.take();
  rows_.release(std::array{one});
  EXPECT_EQ(commits_.take(), settings{normal_});
  rows_.release(std::array{failed});
  EXPECT_EQ(commits_.take(), settings{normal_}) << "after a failure";

  one = ended(key_);
  one.durable = true;
  const auto other = ended(other_key_);
  commits_.take();
  rows_.release(std::array{one, other});
  EXPECT_EQ(commits_.take(), (settings{normal_, normal_})) << "one of two";
}

TEST_F(PostgresFlush, IsLeftOutForMarksOfWaiters) {
  const auto now = granted(key_);
  commits_.take();
  rows_.read(std::array{key_}, read_mode::watched);
  EXPECT_EQ(commits_.take(), settings{"off"});
  EXPECT_EQ(release(rows_, key_, now), change_answer::done);
  EXPECT_EQ(commits_.take(), settings{"off"}) << "a release that is announced";
}

TEST_F(PostgresFlush, IsMadeForReleasesOfALockTableIfItsOptionSaysSo) {
  for (const bool durable : {false, true}) {
    lock_table locks{rows_, {.durable_release = durable}};
    auto held = locks.try_acquire(key_);
    commits_.take();
    EXPECT_EQ(held->release(), release_result::released);
    EXPECT_EQ(commits_.take(), settings{durable ? normal_ : "off"});
  }
}

}  // namespace
}  // namespace rowlock::tests
