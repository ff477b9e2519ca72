// A store that does not answer: a wait ends in its own time, and a lock_table waits for it once.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stop_token>

#include "lease/renewer.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/read_write_lock.hpp"
#include "support/caught_error.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class HangingStore : public testing::Test {
 protected:
  using attempt = std::future<outcome<lease>>;

  attempt waiter(const retry_policy& wait, const lock_key& key = {"job", "a"}) {
    return std::async(std::launch::async,
                      [this, wait, key] { return ours_->try_acquire(key, {.wait = wait}); });
  }
  lease theirs() { return *theirs_.try_acquire({"job", "a"}); }

  /// Reads after a second, and then not for hours.
  static retry_policy patient(std::chrono::milliseconds limit) {
    return {.first_pause = 1s, .longest_pause = 24h, .jitter = false, .give_up_after = limit};
  }

  errc fault_of(attempt& tried) {
    return error_of([&] { (void)tried.get(); }).kind;
  }

  /// The wait is over while the gate is shut.
  template <class Result>
  void await_moving(std::future<Result>& pending) {
    await_answer(pending, [&] { time_->advance(20ms); });
  }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{std::in_place, rows_, lock_options{.ttl = 1h, .time = time_}};
  gate answer_;
};

TEST_F(HangingStore, InALookLetsAWaitEndInItsOwnTimeAsUnavailable) {
  const auto held = theirs();
  rows_.before("watch", [this] { answer_.pass(); });
  auto waiting = waiter(patient(3s));
  rows_.await_moving(*time_, "watch", 1);
  await_moving(waiting);
  EXPECT_EQ(fault_of(waiting), errc::unavailable);
  answer_.open();
}

TEST_F(HangingStore, InTheLastTryLetsAWaitEndAndALateGrantIsGivenBack) {
  auto held = theirs();
  auto waiting = waiter(patient(3s));
  rows_.await_one_more(*time_, "watch");
  rows_.before("acquire", [this] { answer_.pass(); });
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  await_moving(waiting);
  EXPECT_EQ(fault_of(waiting), errc::outcome_unknown);
  answer_.open();
  rows_.await("release", 1);
  EXPECT_TRUE(theirs_.try_acquire({"job", "a"}, {.wait = wait_for(1h)}).acquired());
}

TEST_F(HangingStore, InTheLastTryWhoseAnswersGetLostHasItsGrantGivenBack) {
  auto held = theirs();
  auto waiting = waiter(patient(3s));
  rows_.await_one_more(*time_, "watch");
  rows_.before("acquire", [this] { answer_.pass(); });
  rows_.after("acquire", [this] {
    if (rows_.batches("acquire").size() <= 3) throw error{errc::outcome_unknown, "cut off"};
  });
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  await_moving(waiting);
  EXPECT_EQ(fault_of(waiting), errc::outcome_unknown);
  answer_.open();
  rows_.await("release", 1);
  EXPECT_TRUE(theirs_.try_acquire({"job", "a"}, {.wait = wait_for(1h)}).acquired());
}

TEST_F(HangingStore, IsNotAskedAgainForOneThatWasStopped) {
  std::stop_source stop;
  rows_.after("acquire", [&] {
    stop.request_stop();
    throw error{errc::outcome_unknown, "no answer"};
  });
  auto stopped = waiter(wait_until_stopped(stop.get_token()));
  EXPECT_EQ(fault_of(stopped), errc::outcome_unknown);
  EXPECT_EQ(rows_.batches("acquire").size(), 1);
}

TEST_F(HangingStore, IsNotAskedAgainForASetWhoseTimeIsOver) {
  rows_.after("acquire_all", [&] {
    time_->advance(4s);
    throw error{errc::outcome_unknown, "no answer"};
  });
  const auto caught = error_of([&] {
    (void)ours_->try_acquire_all({{"job", "a"}, {"job", "b"}}, {.wait = wait_for(3s)});
  });
  EXPECT_EQ(caught.kind, errc::outcome_unknown);
  EXPECT_EQ(rows_.batches("acquire_all").size(), 1);
}

TEST_F(HangingStore, IsNotAskedAgainForReadersAndWritersWhoseTimeIsOver) {
  read_write_lock document{*ours_, {"document", "a"}, 2};
  const auto lose_the_answer = [&] {
    time_->advance(4s);
    throw error{errc::outcome_unknown, "no answer"};
  };
  rows_.after("acquire_any", lose_the_answer);
  rows_.after("acquire_all", lose_the_answer);
  const acquire_options in_time{.wait = wait_for(3s)};
  const auto of_reader = error_of([&] { (void)document.try_acquire_shared(in_time); });
  EXPECT_EQ(of_reader.kind, errc::outcome_unknown);
  EXPECT_EQ(rows_.batches("acquire_any").size(), 1);
  const auto of_writer = error_of([&] { (void)document.try_acquire_exclusive(in_time); });
  EXPECT_EQ(of_writer.kind, errc::outcome_unknown);
  EXPECT_EQ(rows_.batches("acquire_all").size(), 1);
}

TEST_F(HangingStore, IsNotAskedAgainForThoseOfALockTableThatCloses) {
  auto held = theirs();
  auto waiting = waiter(wait_forever());
  rows_.await_one_more(*time_, "watch");
  rows_.before("acquire", [this] {
    answer_.pass();
    throw error{errc::outcome_unknown, "no answer"};
  });
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  auto closing = std::async(std::launch::async, [this] { ours_.reset(); });
  EXPECT_EQ(waiting.get().refusal().reason, refusal_reason::stopped);
  answer_.open();
  closing.get();
  EXPECT_EQ(rows_.batches("acquire").size(), 2);
}

TEST_F(HangingStore, InACallOfAnotherThreadDelaysNeitherALossNorAReleaseOfAClosingLockTable) {
  const auto kept = *ours_->try_acquire({"job", "kept"});
  rows_.before("acquire", [this] { answer_.pass(); });
  auto hanging = waiter(no_wait());
  answer_.await_visitor();
  auto closing = std::async(std::launch::async, [this] { ours_.reset(); });
  rows_.await("release", 1);
  EXPECT_FALSE(kept.is_valid());
  answer_.open();
  (void)hanging.get();
  closing.get();
}

// A store that has hung as long as a closing lock_table may take gets no more calls.
TEST_F(HangingStore, IsAskedForNoReleaseWhenTheTimeToCloseIsOver) {
  detail::lease_registry book{time_, 1s, true};
  detail::serial_executor losses;
  detail::event_dispatcher events{nullptr};
  detail::statement_batcher batcher{rows_};
  detail::deferred_releases deferred{batcher, book, events, time_, [](const lock_key&) {}};
  detail::renewer closing{rows_, book, deferred, losses, events, time_};
  const detail::lease_request wanted{
      .request = {.key = {"job", "a"}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  const detail::lease_state ended{wanted, version{1}, time_->now()};
  deferred.add({ended, time_->now()}, detail::deferred_releases::tried::never);
  deferred.close_by(boot_clock::now());
  book.close();
  closing.run();
  EXPECT_TRUE(rows_.batches("release").empty());
}

TEST_F(HangingStore, IsAskedForNoOtherReleaseWhenTheTimeToCloseIsOverDuringOneBefore) {
  detail::lease_registry book{time_, 1s, true};
  detail::serial_executor losses;
  detail::event_dispatcher events{nullptr};
  detail::statement_batcher batcher{rows_};
  detail::deferred_releases deferred{batcher, book, events, time_, [](const lock_key&) {}};
  detail::renewer closing{rows_, book, deferred, losses, events, time_};
  const auto wanted = [](const std::string& id) {
    return detail::lease_request{
        .request = {.key = {"job", id}, .owner = make_owner_id(), .holder = "", .ttl = 30s}};
  };
  const detail::lease_state one{wanted("a"), version{1}, time_->now()};
  const detail::lease_state other{wanted("b"), version{1}, time_->now()};
  const auto held = std::make_shared<detail::lease_state>(wanted("c"), version{1}, time_->now());
  ASSERT_TRUE(book.add(held, time_->now()));
  rows_.before("release", [&] {
    deferred.close_by(boot_clock::now());
    time_->advance(15s);  // the next thing to do is a renewal
    throw error{errc::unavailable, "no answer"};
  });
  deferred.add({{one, time_->now()}, {other, time_->now()}},
               detail::deferred_releases::tried::never);
  auto running = std::async(std::launch::async, [&] { closing.run(); });
  rows_.await("renew", 1);
  book.close();
  running.get();
  EXPECT_EQ(rows_.batches("release").size(), 1);
}

}  // namespace
}  // namespace rowlock::tests
