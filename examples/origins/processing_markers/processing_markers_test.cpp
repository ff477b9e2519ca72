// The test list of the processing markers, on each engine.
#include "origins/processing_markers/processing_markers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "origins/support/origin_test.hpp"
#include "origins/support/waits.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/passing_store.hpp"

namespace origins {
namespace {

using rowlock::conformance::app_connection;
using call = rowlock::faulty_store::call;

class ProcessingMarkers : public origin_test {
 protected:
  /// A call whose thing fails; the message of the error that it handed on.
  std::string fail_once() {
    try {
      ours_.do_once(key_, [&] {
        ++calls_;
        throw std::runtime_error{"failure " + std::to_string(calls_)};
      });
    } catch (const std::runtime_error& handed_on) {
      return handed_on.what();
    }
    return "none";
  }
  process_status succeed_once() {
    return ours_.do_once(key_, [&] { ++calls_; }).status;
  }

  /// The work, and the mark, in one transaction of the application.
  static void book(app_connection& application, const rowlock::lease& held,
                   const processing_markers& markers) {
    const auto transaction = *application.begin();
    transaction->write_note("booked");
    transaction->release_with(held, markers.as_processed());
    transaction->commit();
  }

  using notes = std::vector<std::string>;

  const std::string key_ = "order-17";
  const rowlock::lock_key row_key_ = processing_markers::key_of(key_);
  processing_markers ours_{faulty_, {.time = clock_}};
  /// Another instance of the service.
  processing_markers theirs_{*rows_, {.time = clock_}};
  int calls_ = 0;  // of the thing
};

// The original's own cases.

TEST_P(ProcessingMarkers, ThreeCallsOfTheSimpleFormDoTheThingOnce) {
  EXPECT_TRUE(ours_.do_if_acquired(key_, [&] { ++calls_; }));
  EXPECT_FALSE(ours_.do_if_acquired(key_, [&] { ++calls_; }));
  EXPECT_FALSE(theirs_.do_if_acquired(key_, [&] { ++calls_; }));
  EXPECT_EQ(calls_, 1);
}

TEST_P(ProcessingMarkers, ThreeCallsThatFailAndOneThatSucceedsCallTheThingFourTimes) {
  for (const std::string failure : {"failure 1", "failure 2", "failure 3"}) {
    EXPECT_EQ(fail_once(), failure);
  }
  EXPECT_EQ(succeed_once(), process_status::done);
  EXPECT_EQ(calls_, 4);
  EXPECT_EQ(ours_.get(key_), processed_marker);

  EXPECT_EQ(succeed_once(), process_status::processed);
  EXPECT_EQ(calls_, 4) << "the fifth call does nothing";
  EXPECT_EQ(ours_.get(key_), processed_marker);
}

TEST_P(ProcessingMarkers, ACallThatMeetsProcessingDoesNothing) {
  ours_.do_once(key_, [&] {
    EXPECT_EQ(theirs_.get(key_), processing_marker);
    EXPECT_EQ(theirs_.do_once(key_, [&] { ++calls_; }).status, process_status::processing);
    EXPECT_EQ(succeed_once(), process_status::processing);
  });
  EXPECT_EQ(calls_, 0);
}

TEST_P(ProcessingMarkers, ACallThatMeetsProcessedDoesNothing) {
  const auto first = ours_.do_once(key_, [] {});
  EXPECT_EQ(first.status, process_status::done);
  EXPECT_TRUE(first.is_marked);
  EXPECT_EQ(theirs_.do_once(key_, [&] { ++calls_; }).status, process_status::processed);
  EXPECT_EQ(calls_, 0);
}

TEST_P(ProcessingMarkers, AFailureDeletesTheKeyAtOnce) {
  EXPECT_EQ(fail_once(), "failure 1");
  EXPECT_EQ(ours_.get(key_), std::nullopt);
  EXPECT_EQ(theirs_.do_once(key_, [] {}).status, process_status::done);
}

TEST_P(ProcessingMarkers, ProcessingExpires) {
  ours_.do_once(key_, [&] {  // hangs, or its process is dead
    bench_->run_out(row_key_);
    EXPECT_EQ(theirs_.get(key_), std::nullopt);
    EXPECT_EQ(theirs_.do_once(key_, [&] { ++calls_; }).status, process_status::done);
  });
  EXPECT_EQ(calls_, 1);
}

TEST_P(ProcessingMarkers, ProcessedExpires) {
  EXPECT_EQ(succeed_once(), process_status::done);
  bench_->let_done_lapse(row_key_);
  EXPECT_EQ(ours_.get(key_), std::nullopt);
  EXPECT_EQ(succeed_once(), process_status::done);
  EXPECT_EQ(calls_, 2);
}

/// Notes how long the markers last that it writes.
class timing_store final : public rowlock::passing_store {
 public:
  using passing_store::passing_store;

  std::vector<std::chrono::microseconds> processing;
  std::vector<std::chrono::microseconds> processed;

 protected:
  std::vector<rowlock::acquire_answer> do_acquire(
      std::span<const rowlock::acquire_request> requests, rowlock::acquire_mode mode) override {
    for (const auto& each : requests) processing.push_back(each.ttl);
    return passing_store::do_acquire(requests, mode);
  }
  std::vector<rowlock::change_answer> do_release(
      std::span<const rowlock::release_request> requests) override {
    for (const auto& each : requests) processed.push_back(each.done_for.value_or(0s));
    return passing_store::do_release(requests);
  }
};

TEST_P(ProcessingMarkers, ProcessingLastsTwentySecondsAndProcessedTwoHundred) {
  timing_store timed{*rows_};
  processing_markers usual{timed, {.time = clock_}};
  processing_markers tuned{timed, {.processing = 5s, .processed = 50s, .time = clock_}};
  usual.do_once("usual", [] {});
  tuned.do_once("tuned", [] {});
  EXPECT_EQ(timed.processing, (std::vector<std::chrono::microseconds>{20s, 5s}));
  EXPECT_EQ(timed.processed, (std::vector<std::chrono::microseconds>{200s, 50s}));
}

// The edges of its behaviour.

TEST_P(ProcessingMarkers, TwoKeysDoNotMeet) {
  ours_.do_once("order-18", [&] { EXPECT_EQ(succeed_once(), process_status::done); });
  EXPECT_EQ(ours_.get("order-18"), processed_marker);
  EXPECT_EQ(ours_.get("order-19"), std::nullopt);
}

TEST_P(ProcessingMarkers, EightCallsAtOnceDoTheThingOnce) {
  constexpr int callers = 8;
  std::latch start{callers};
  std::mutex mutex;
  std::vector<std::future<process_status>> pending;
  for (int caller = 0; caller < callers; ++caller) {
    auto& markers = caller % 2 == 0 ? ours_ : theirs_;
    pending.push_back(std::async(std::launch::async, [&] {
      start.arrive_and_wait();
      const auto count = [&] {
        const std::scoped_lock lock{mutex};
        ++calls_;
      };
      return markers.do_once(key_, count).status;
    }));
  }
  std::vector<process_status> results;
  for (auto& each : pending) {
    // A release that meets a busy row is made again a moment later.
    rowlock::tests::await_answer(each, [this] { clock_->advance(1ms); });
    results.push_back(each.get());
  }
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(std::count(results.begin(), results.end(), process_status::done), 1);
  EXPECT_EQ(ours_.get(key_), processed_marker);
}

TEST_P(ProcessingMarkers, TheSimpleFormKeepsTheKeyOfAThingThatFailed) {
  EXPECT_THROW(ours_.do_if_acquired(key_, [] { throw std::runtime_error{"no paper"}; }),
               std::runtime_error);
  EXPECT_FALSE(ours_.do_if_acquired(key_, [&] { ++calls_; }));
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(ours_.get(key_), processed_marker) << "set before the thing";
}

TEST_P(ProcessingMarkers, TheSimpleFormDoesNothingWithoutAConfirmedKey) {
  faulty_.next_is_in_doubt(call::release);
  try {
    ours_.do_if_acquired(key_, [&] { ++calls_; });
    ADD_FAILURE() << "the key is not confirmed";
  } catch (const rowlock::error& thrown) {
    EXPECT_EQ(thrown.kind(), rowlock::errc::outcome_unknown);
  }
  EXPECT_EQ(calls_, 0);
}

TEST_P(ProcessingMarkers, WithoutADatabaseNothingIsDone) {
  faulty_.next_is_unavailable(call::acquire);
  try {
    succeed_once();
    ADD_FAILURE() << "there is no marker";
  } catch (const rowlock::error& thrown) {
    EXPECT_EQ(thrown.kind(), rowlock::errc::unavailable);
  }
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(succeed_once(), process_status::done);
}

// What the original could not promise.

TEST_P(ProcessingMarkers, AnExpiredMarkerThatWasTakenOverCannotSayProcessed) {
  rowlock::lock_table rival{*rows_, {.time = clock_}};
  std::optional<rowlock::lease> successor;
  const auto result = ours_.do_once(key_, [&] {
    bench_->run_out(row_key_);
    successor = *rival.try_acquire(row_key_);
  });
  EXPECT_EQ(result.status, process_status::done);
  EXPECT_FALSE(result.is_marked);
  EXPECT_EQ(ours_.get(key_), processing_marker);
  EXPECT_EQ(row(row_key_)->version, successor->token());
}

TEST_P(ProcessingMarkers, AnExpiredMarkerThatWasTakenOverDoesNotRemoveItsSuccessors) {
  rowlock::lock_table rival{*rows_, {.time = clock_}};
  std::optional<rowlock::lease> successor;
  const auto fail_late = [&] {
    bench_->run_out(row_key_);
    successor = *rival.try_acquire(row_key_);
    throw std::runtime_error{"no paper"};
  };
  EXPECT_THROW(ours_.do_once(key_, fail_late), std::runtime_error);
  EXPECT_EQ(ours_.get(key_), processing_marker);
  EXPECT_EQ(row(row_key_)->version, successor->token());
  EXPECT_EQ(successor->release(), rowlock::release_result::released);
}

TEST_P(ProcessingMarkers, AFailureAfterATakeoverDoesNotRemoveProcessed) {
  const auto fail_late = [&] {
    bench_->run_out(row_key_);
    EXPECT_TRUE(theirs_.do_once(key_, [] {}).is_marked);
    throw std::runtime_error{"no paper"};
  };
  EXPECT_THROW(ours_.do_once(key_, fail_late), std::runtime_error);
  EXPECT_EQ(ours_.get(key_), processed_marker);
}

TEST_P(ProcessingMarkers, TheMarkCommitsWithTheWork) {
  const auto application = bench_->connect();
  const auto result = ours_.do_once(key_, [&](const rowlock::lease& held) {
    const auto transaction = *application->begin();
    transaction->write_note("booked");
    transaction->release_with(held, ours_.as_processed());
    EXPECT_EQ(theirs_.get(key_), processing_marker);
    transaction->commit();
    EXPECT_EQ(theirs_.get(key_), processed_marker);
  });
  EXPECT_EQ(result.status, process_status::done);
  EXPECT_TRUE(result.is_marked);
  EXPECT_EQ(application->notes(), notes{"booked"});
}

TEST_P(ProcessingMarkers, WorkThatIsRolledBackIsNotMarked) {
  const auto application = bench_->connect();
  const auto fail = [&](const rowlock::lease& held) {
    const auto transaction = *application->begin();
    transaction->write_note("booked");
    transaction->release_with(held, ours_.as_processed());
    throw std::runtime_error{"no paper"};
  };
  EXPECT_THROW(ours_.do_once(key_, fail), std::runtime_error);
  EXPECT_EQ(ours_.get(key_), std::nullopt);
  EXPECT_EQ(application->notes(), notes{});
}

TEST_P(ProcessingMarkers, AFailureAfterTheCommitDoesNotDoItAgain) {
  const auto application = bench_->connect();
  const auto fail_late = [&](const rowlock::lease& held) {
    book(*application, held, ours_);
    throw std::runtime_error{"the process ends here"};
  };
  EXPECT_THROW(ours_.do_once(key_, fail_late), std::runtime_error);
  EXPECT_EQ(succeed_once(), process_status::processed);
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(application->notes(), notes{"booked"});
}

TEST_P(ProcessingMarkers, OfTwoThatBothFinishOneCommits) {
  const auto our_books = bench_->connect();
  const auto their_books = bench_->connect();
  rowlock::version successor;
  const auto finish_late = [&](const rowlock::lease& held) {
    bench_->run_out(row_key_);
    theirs_.do_once(key_, [&](const rowlock::lease& taken_over) {
      successor = taken_over.token();
      book(*their_books, taken_over, theirs_);
    });
    book(*our_books, held, ours_);
  };
  EXPECT_THROW(ours_.do_once(key_, finish_late), rowlock::lease_lost);
  EXPECT_EQ(our_books->notes(), notes{"booked"});
  EXPECT_EQ(row(row_key_)->done.value().by, successor);
}

TEST_P(ProcessingMarkers, AHolderIsNotifiedThatItsTimeIsOverAndDoesNotMark) {
  const auto result = ours_.do_once(key_, [&](const rowlock::lease& held) {
    EXPECT_TRUE(held.is_valid());
    clock_->advance(20s);
    EXPECT_FALSE(held.is_valid());
    EXPECT_TRUE(comes([&] { return held.lost().stop_requested(); }));
  });
  EXPECT_EQ(result.status, process_status::done);
  EXPECT_FALSE(result.is_marked);
  bench_->run_out(row_key_);
  EXPECT_EQ(succeed_once(), process_status::done);
}

TEST_P(ProcessingMarkers, RenewalKeepsTheKeyOfASlowThing) {
  processing_markers renewing{*rows_, {.renew = true, .time = clock_}};
  const auto slow = renewing.do_once("slow", [&](const rowlock::lease& renewed) {
    ours_.do_once(key_, [&](const rowlock::lease& held) {
      for (int third = 0; third < 3; ++third) {
        const auto before = renewed.valid_until();
        clock_->advance(7s);
        ASSERT_TRUE(comes([&] { return renewed.valid_until() != before; }));
      }
      EXPECT_TRUE(renewed.is_valid());
      EXPECT_FALSE(held.is_valid()) << "as in the original, unless it is asked for";
    });
  });
  EXPECT_TRUE(slow.is_marked);
}

TEST_P(ProcessingMarkers, AMarkerWhoseAnswerGotLostIsRecognised) {
  faulty_.next_is_in_doubt(call::acquire);
  EXPECT_EQ(succeed_once(), process_status::done);
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(faulty_.pending(), 0U);
}

TEST_P(ProcessingMarkers, AMarkThatCouldNotBeWrittenIsWrittenLater) {
  faulty_.next_is_unavailable(call::release);
  const auto result = ours_.do_once(key_, [] {});
  EXPECT_EQ(result.status, process_status::done);
  EXPECT_FALSE(result.is_marked);
  EXPECT_EQ(theirs_.do_once(key_, [&] { ++calls_; }).status, process_status::processing);
  clock_->advance(1s);
  ASSERT_TRUE(comes([&] { return theirs_.get(key_) == processed_marker; }));
  EXPECT_EQ(theirs_.do_once(key_, [&] { ++calls_; }).status, process_status::processed);
  EXPECT_EQ(calls_, 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, ProcessingMarkers, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
