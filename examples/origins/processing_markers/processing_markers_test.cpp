// The behaviour of the markers, on each engine.
#include "origins/processing_markers/processing_markers.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "origins/support/origin_test.hpp"

namespace origins {
namespace {

class ProcessingMarkers : public origin_test {
 protected:
  /// Fails as often as `failures_` says.
  auto thing() {
    return [this] {
      ++calls_;
      if (calls_ <= failures_) throw std::domain_error{"failed"};
    };
  }

  processing_markers markers_{*rows_, {.time = clock_}};
  const rowlock::lock_key row_ = processing_markers::row_of("a");
  int failures_ = 0;
  int calls_ = 0;
};

// The simple form.

TEST_P(ProcessingMarkers, SimpleFormCalledThreeTimesDoesTheThingOnce) {
  EXPECT_TRUE(markers_.do_if_absent("a", thing()));
  EXPECT_FALSE(markers_.do_if_absent("a", thing()));
  EXPECT_FALSE(markers_.do_if_absent("a", thing()));
  EXPECT_EQ(calls_, 1);
}

TEST_P(ProcessingMarkers, SimpleFormKeepsItsMarkerWhenTheThingFails) {
  failures_ = 1;
  EXPECT_THROW(markers_.do_if_absent("a", thing()), std::domain_error);
  EXPECT_FALSE(markers_.do_if_absent("a", thing()));
  EXPECT_EQ(calls_, 1);
}

// The better form.

TEST_P(ProcessingMarkers, ThreeFailuresAndASuccessAreFourCallsThenNone) {
  failures_ = 3;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW((void)markers_.do_if_acquired("a", thing()), std::domain_error);
    EXPECT_EQ(markers_.look("a"), marker::none);
  }
  EXPECT_EQ(markers_.do_if_acquired("a", thing()).met, marker::none);
  EXPECT_EQ(calls_, 4);
  EXPECT_EQ(markers_.look("a"), marker::processed);
  EXPECT_EQ(markers_.do_if_acquired("a", thing()).met, marker::processed);
  EXPECT_EQ(calls_, 4);
}

TEST_P(ProcessingMarkers, SaysThatItMetProcessing) {
  const auto done = markers_.do_if_acquired("a", [&] {
    EXPECT_EQ(markers_.look("a"), marker::processing);
    EXPECT_EQ(markers_.do_if_acquired("a", thing()).met, marker::processing);
  });
  EXPECT_EQ(done.met, marker::none);
  EXPECT_TRUE(done.is_marked);
  EXPECT_EQ(calls_, 0);
}

TEST_P(ProcessingMarkers, LastTwentyAndTwoHundredSeconds) {
  (void)markers_.do_if_acquired("a", [&] {
    const auto left = row(row_)->remaining.value();
    EXPECT_LE(left, 20s);
    EXPECT_GT(left, 10s);
  });
  const auto left = row(row_)->done->remaining;
  EXPECT_LE(left, 200s);
  EXPECT_GT(left, 190s);
}

TEST_P(ProcessingMarkers, AreTakenOverWhenProcessingExpires) {
  (void)markers_.do_if_acquired("a", [&] {
    bench_->run_out(row_);
    EXPECT_EQ(markers_.do_if_acquired("a", thing()).met, marker::none);
  });
  EXPECT_EQ(calls_, 1);
}

TEST_P(ProcessingMarkers, AreProcessedAgainWhenProcessedExpires) {
  (void)markers_.do_if_acquired("a", thing());
  bench_->let_done_lapse(row_);
  EXPECT_EQ(markers_.look("a"), marker::none);
  EXPECT_EQ(markers_.do_if_acquired("a", thing()).met, marker::none);
  EXPECT_EQ(calls_, 2);
}

TEST_P(ProcessingMarkers, OfAnotherKeyAreOthers) {
  (void)markers_.do_if_acquired("a", thing());
  EXPECT_EQ(markers_.do_if_acquired("b", thing()).met, marker::none);
}

// What the original could not promise.

TEST_P(ProcessingMarkers, OfASuccessorAreNotRemovedByAFailureThatComesTooLate) {
  const auto fail_late = [&] {
    bench_->run_out(row_);
    (void)processing_markers{*rows_, {.time = clock_}}.do_if_acquired("a", thing());
    throw std::domain_error{"failed too late"};
  };
  EXPECT_THROW((void)markers_.do_if_acquired("a", fail_late), std::domain_error);
  EXPECT_EQ(markers_.look("a"), marker::processed);
}

TEST_P(ProcessingMarkers, TellThatTheThingWasDoneTooLate) {
  const auto done = markers_.do_if_acquired("a", [&] {
    bench_->run_out(row_);
    (void)processing_markers{*rows_, {.time = clock_}}.do_if_acquired("a", thing());
  });
  EXPECT_FALSE(done.is_marked);
}

TEST_P(ProcessingMarkers, AreSetByTheCommitOfTheThing) {
  const auto connection = bench_->connect();
  const auto book = [&](const rowlock::lease& held) {
    const auto books = *connection->begin();
    books->write_note("booked");
    books->release_with(held, {.done_for = 200s});
    EXPECT_EQ(markers_.look("a"), marker::processing);
    books->commit();
    EXPECT_EQ(markers_.look("a"), marker::processed);
  };
  EXPECT_TRUE(markers_.do_if_acquired("a", book).is_marked);
  EXPECT_EQ(markers_.do_if_acquired("a", book).met, marker::processed);
  EXPECT_EQ(connection->notes(), std::vector<std::string>{"booked"});
}

INSTANTIATE_TEST_SUITE_P(Engines, ProcessingMarkers, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
