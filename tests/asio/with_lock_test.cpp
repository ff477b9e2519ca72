// Coroutines that run under a key.
#include <stdexcept>
#include <string>
#include <thread>

#include "asio/asio_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class AsyncWithLock : public asio_test {
 protected:
  /// Works until it is cancelled.
  static asio::awaitable<void> work_for_ever() {
    asio::steady_timer timer{co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max()};
    co_await timer.async_wait(asio::use_awaitable);
  }
};

TEST_F(AsyncWithLock, RunsTheCoroutineUnderTheKeyAndGivesWhatItReturns) {
  const auto sent = result_of(
      spawn(async_with_lock(*ours_, key_, [&](const lease& held) -> asio::awaitable<std::string> {
        co_await asio::post(asio::use_awaitable);
        EXPECT_TRUE(held.is_valid());
        EXPECT_FALSE(is_free());
        co_return "sent";
      })));
  EXPECT_EQ(*sent, "sent");
  EXPECT_TRUE(sent.kept());
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncWithLock, RunsNothingWhenItIsRefused) {
  const auto held = theirs();
  const auto sent = result_of(spawn(async_with_lock(*ours_, key_, []() -> asio::awaitable<void> {
    ADD_FAILURE() << "it runs";
    co_return;
  })));
  EXPECT_EQ(sent.refusal().reason, refusal_reason::held);
}

TEST_F(AsyncWithLock, UnsetsTheRowByAThreadOfTheTable) {
  std::thread::id released_by;
  rows_.before("release", [&] { released_by = std::this_thread::get_id(); });
  const auto sent =
      result_of(spawn(async_with_lock(*ours_, key_, []() -> asio::awaitable<void> { co_return; })));
  EXPECT_TRUE(sent.kept());
  EXPECT_NE(released_by, std::thread::id{});
  EXPECT_NE(released_by, std::this_thread::get_id());
}

TEST_F(AsyncWithLock, PassesAnExceptionThroughAndCountsIt) {
  const auto sent = spawn(async_with_lock(*ours_, key_, []() -> asio::awaitable<int> {
    throw std::runtime_error{"no paper"};
    co_return 1;
  }));
  EXPECT_THROW((void)result_of(sent), std::runtime_error);
  EXPECT_TRUE(is_free());
  EXPECT_EQ(row().failure_count, 1);
}

TEST_F(AsyncWithLock, UnsetsTheRowOfACoroutineThatWasCancelled) {
  asio::cancellation_signal cancel;
  bool has_begun = false;
  const auto sent = spawn(async_with_lock(*ours_, key_,
                                          [&]() -> asio::awaitable<void> {
                                            has_begun = true;
                                            co_await work_for_ever();
                                          }),
                          cancel.slot());
  run_until([&] { return has_begun; });
  cancel.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(is_aborted(sent));
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncWithLock, UnsetsTheRowOfACoroutineThatIsDestroyed) {
  bool has_begun = false;
  spawn(async_with_lock(*ours_, key_, [&]() -> asio::awaitable<void> {
    has_begun = true;
    co_await work_for_ever();
  }));
  run_until([&] { return has_begun; });
  io_.reset();
  EXPECT_TRUE(is_free());
}

TEST_F(AsyncWithLock, TellsThatTheKeyWasNotKept) {
  const auto sent = result_of(spawn(async_with_lock(*ours_, key_, [&]() -> asio::awaitable<int> {
    rows_.rows().force_release({key_, row().version, "test"});
    co_return 7;
  })));
  EXPECT_EQ(*sent, 7);
  EXPECT_FALSE(sent.kept());
}

TEST_F(AsyncWithLock, SurvivesTheEndOfItsTable) {
  bool has_begun = false;
  std::stop_token lost;
  asio::cancellation_signal cancel;
  const auto sent = spawn(async_with_lock(*ours_, key_,
                                          [&](const lease& held) -> asio::awaitable<void> {
                                            lost = held.lost();
                                            has_begun = true;
                                            co_await work_for_ever();
                                          }),
                          cancel.slot());
  run_until([&] { return has_begun; });
  ours_.reset();
  EXPECT_TRUE(lost.stop_requested());
  cancel.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(is_aborted(sent));
}

TEST_F(AsyncWithLock, OnceIsRefusedWhenTheWorkIsDone) {
  const auto work = []() -> asio::awaitable<int> { co_return 1; };
  EXPECT_EQ(*result_of(spawn(async_with_lock_once(*ours_, key_, work))), 1);
  const auto again = result_of(spawn(async_with_lock_once(*ours_, key_, work)));
  EXPECT_EQ(again.refusal().reason, refusal_reason::already_done);
}

TEST_F(AsyncWithLock, OnceIsMisuseForATimeThatCannotBeMeant) {
  const auto work = []() -> asio::awaitable<void> { co_return; };
  const auto for_ever = std::chrono::milliseconds::max();
  EXPECT_THROW((void)async_with_lock_once(*ours_, key_, work, {.keep_for = for_ever}), error);
}

TEST_F(AsyncWithLock, OnceIsNotDoneWhenTheWorkThrows) {
  const auto fails = []() -> asio::awaitable<int> {
    throw std::runtime_error{"no paper"};
    co_return 1;
  };
  EXPECT_THROW((void)result_of(spawn(async_with_lock_once(*ours_, key_, fails))),
               std::runtime_error);
  const auto work = []() -> asio::awaitable<int> { co_return 2; };
  EXPECT_EQ(*result_of(spawn(async_with_lock_once(*ours_, key_, work))), 2);
}

TEST_F(AsyncWithLock, OfSeveralThreadsExcludesAllOthers) {
  lock_table locks{rows_};
  asio::thread_pool pool{2};
  int inside = 0;  // not atomic: the sanitizer sees two at once
  int runs = 0;
  const auto work = [&]() -> asio::awaitable<void> {
    EXPECT_EQ(++inside, 1);
    co_await asio::post(asio::use_awaitable);
    --inside;
    ++runs;
  };
  const auto contend = [&]() -> asio::awaitable<void> {
    co_await async_with_lock(locks, key_, work, waiting());
  };
  for (int i = 0; i < 20; ++i) asio::co_spawn(pool, contend, asio::detached);
  pool.join();
  EXPECT_EQ(runs, 20);
}

}  // namespace
}  // namespace rowlock::tests
