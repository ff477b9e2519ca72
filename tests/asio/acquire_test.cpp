// Keys that are acquired without blocking, by every kind of completion.
#include <array>
#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "asio/asio_test.hpp"
#include "rowlock/error.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class AsyncAcquire : public asio_test {};

TEST_F(AsyncAcquire, GivesACoroutineTheLease) {
  const auto held = result_of(spawn(async_acquire(*ours_, key_)));
  EXPECT_TRUE(held->is_valid());
  EXPECT_FALSE(is_free());
}

/// As users write it: what a co_await makes in its expression is destroyed once.
asio::awaitable<std::string> acquired_by_parts(lock_table& locks, std::string id) {
  auto held = co_await async_acquire(locks, "job", id + " of a length that needs the heap");
  const auto key = held->key();
  co_await async_release(*std::move(held));
  const auto ran = co_await async_with_lock(
      locks, "job", key.source_id, [&]() -> asio::awaitable<std::string> { co_return key.type; });
  const auto once = co_await async_with_lock_once(
      locks, "job", key.source_id, [&]() -> asio::awaitable<std::string> { co_return *ran; });
  co_return *once + '/' + key.source_id;
}

TEST_F(AsyncAcquire, TakesTheKeyByItsParts) {
  EXPECT_EQ(result_of(spawn(acquired_by_parts(*ours_, "a"))),
            "job/a of a length that needs the heap");
}

/// With default options, which are made in the expression as well.
asio::awaitable<bool> acquired_twice(lock_table& locks, const lock_key& key) {
  {
    const auto held = co_await async_acquire(locks, key);
    if (!held->is_valid()) co_return false;
  }
  const auto ran =
      co_await async_with_lock(locks, key, [&]() -> asio::awaitable<bool> { co_return true; });
  const auto once =
      co_await async_with_lock_once(locks, key, [&]() -> asio::awaitable<bool> { co_return true; });
  co_return *ran&&* once;
}

TEST_F(AsyncAcquire, TakesDefaultOptionsWithinACoAwait) {
  EXPECT_TRUE(result_of(spawn(acquired_twice(*ours_, key_))));
}

TEST_F(AsyncAcquire, GivesACoroutineTheRefusal) {
  const auto held = theirs();
  const auto refused = result_of(spawn(async_acquire(*ours_, key_)));
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().holder, "theirs");
}

TEST_F(AsyncAcquire, ThrowsAFaultInTheCoroutine) {
  rows_.before("acquire", [] { throw error{errc::unavailable, "gone"}; });
  EXPECT_THROW((void)result_of(spawn(async_acquire(*ours_, key_))), error);
}

TEST_F(AsyncAcquire, ThrowsMisuseInTheCoroutine) {
  EXPECT_THROW((void)result_of(spawn(async_acquire(*ours_, {"", ""}))), error);
}

TEST_F(AsyncAcquire, CallsBackByTheAssociatedExecutor) {
  asio::thread_pool other{1};
  std::promise<bool> caught;
  async_acquire(
      *ours_, key_, {},
      asio::bind_executor(other, [&](const std::exception_ptr& fault, outcome<lease> got) {
        caught.set_value(!fault && got.acquired() && other.get_executor().running_in_this_thread());
      }));
  EXPECT_TRUE(caught.get_future().get());
  other.join();
}

TEST_F(AsyncAcquire, FulfilsAFuture) {
  auto got = async_acquire(*ours_, key_, {}, asio::use_future);
  const auto held = got.get();
  EXPECT_TRUE(held.acquired());
}

TEST_F(AsyncAcquire, AsksByAThreadOfTheTableAndNeverByOneOfAsios) {
  std::atomic<bool> is_ours = false;
  const auto note_thread = [&, asios = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == asios) is_ours = true;
  };
  rows_.before("acquire", note_thread);
  rows_.before("watch", note_thread);
  rows_.before("release", note_thread);
  auto held = theirs();
  const auto waits = spawn(async_acquire(*ours_, key_, waiting()));
  run_until([&] { return rows_.batches("acquire").size() == 1; });
  await_in_line();
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  auto got = result_of(waits);
  EXPECT_EQ(result_of(spawn(async_release(*std::move(got)))), release_result::released);
  EXPECT_FALSE(is_ours);
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncAcquire, ThatIsCancelledLeavesItsLineAtOnce) {
  const auto held = theirs();
  asio::cancellation_signal cancel;
  const auto waits = spawn(async_acquire(*ours_, key_, waiting()), cancel.slot());
  run_until([&] { return rows_.batches("acquire").size() == 1; });
  await_in_line();
  const auto next = spawn(async_acquire(*ours_, key_, waiting()));
  cancel.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(is_aborted(waits));
  EXPECT_FALSE(next->is_over);
}

TEST_F(AsyncAcquire, ThatIsCancelledDuringItsStatementEndsAtOnceAndItsGrantIsReleased) {
  gate answer;
  rows_.after("acquire", [&] { answer.pass(); });
  asio::cancellation_signal cancel;
  const auto in_flight = spawn(async_acquire(*ours_, key_), cancel.slot());
  run_until([&] { return rows_.batches("acquire").size() == 1; });
  cancel.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(is_aborted(in_flight));
  answer.open();
  rows_.await("release", 1);
  await_that([&] { return is_free(); });
}

TEST_F(AsyncAcquire, ThatLosesARaceAgainstATimerIsAborted) {
  const auto held = theirs();
  const auto race = [](lock_table& locks, lock_key key) -> asio::awaitable<bool> {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer{co_await asio::this_coro::executor, 10ms};
    const auto options = waiting();
    const auto first =
        co_await (async_acquire(locks, key, options) || timer.async_wait(asio::use_awaitable));
    co_return first.index() == 1;
  };
  EXPECT_TRUE(result_of(spawn(race(*ours_, key_))));
}

TEST_F(AsyncAcquire, ThatIsStoppedByItsPolicyIsRefusedAsStopped) {
  const auto held = theirs();
  std::stop_source stop;
  const auto waits =
      spawn(async_acquire(*ours_, key_, waiting(wait_until_stopped(stop.get_token()))));
  run_until([&] { return rows_.batches("acquire").size() == 1; });
  await_in_line();
  stop.request_stop();
  EXPECT_EQ(result_of(waits).refusal().reason, refusal_reason::stopped);
}

TEST_F(AsyncAcquire, IsRefusedAsStoppedWhenTheLockTableIsDestroyed) {
  const auto held = theirs();
  std::vector<std::shared_ptr<spawned<outcome<lease>>>> wait;
  for (int i = 0; i < 20; ++i) wait.push_back(spawn(async_acquire(*ours_, key_, waiting())));
  io_->poll();
  rows_.await("acquire", 1);
  await_in_line();
  ours_.reset();
  for (const auto& each : wait) {
    EXPECT_EQ(result_of(each).refusal().reason, refusal_reason::stopped);
  }
}

TEST_F(AsyncAcquire, EndsWithTheContextThatIsToBeTold) {
  auto held = theirs();
  spawn(async_acquire(*ours_, key_, waiting()));
  run_until([&] { return rows_.batches("acquire").size() == 1; });
  await_in_line();
  io_.reset();
  held.release();
  const auto next = ours_->try_acquire(key_, {.wait = wait_for(1h)});
  EXPECT_TRUE(next.acquired()) << "the waiter that is gone still waits, or has it";
}

TEST_F(AsyncAcquire, AGrantThatAnswersADestroyedContextIsReleased) {
  gate answer;
  rows_.after("acquire", [&] { answer.pass(); });
  spawn(async_acquire(*ours_, key_));
  run_until([&] { return rows_.batches("acquire").size() == 1; });
  io_.reset();
  answer.open();
  rows_.await("release", 1);
  await_that([&] { return is_free(); });
}

TEST_F(AsyncAcquire, IsToldWhenAStoppedContextRunsAgain) {
  const auto waits = spawn(async_acquire(*ours_, key_));
  rows_.after("acquire", [this] { io_->stop(); });
  io_->run();
  EXPECT_FALSE(waits->is_over);
  EXPECT_TRUE(result_of(waits).acquired());
}

TEST_F(AsyncAcquire, IsWorkToTheContext) {
  auto held = theirs();
  const auto waits = spawn(async_acquire(*ours_, key_, waiting()));
  std::jthread runs{[this] { io_->run(); }};
  rows_.await("acquire", 1);
  await_in_line();
  held.release();
  rows_.await_moving(*time_, "acquire", 2);
  runs.join();
  EXPECT_TRUE(waits->result->acquired());
}

}  // namespace
}  // namespace rowlock::tests
