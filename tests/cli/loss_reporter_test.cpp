// Which faults a command that waits for its key says.
#include "cli/loss_reporter.hpp"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "rowlock/error.hpp"
#include "rowlock/testing/memory_store.hpp"

namespace rowlock::cli {
namespace {

class LossReporter : public testing::Test {
 protected:
  static std::string said_of_an_outage(loss_reporter& caught) {
    testing::internal::CaptureStderr();
    const auto code = make_error_code(errc::unavailable);
    caught.fault({.operation = fault_operation::acquire, .code = code, .text = "away"});
    return testing::internal::GetCapturedStderr();
  }

  memory_store rows_;
  release_witness witness_{rows_};
};

TEST_F(LossReporter, SaysAnOutageDuringItsWait) {
  loss_reporter waiting{witness_, {}, true, {}};
  EXPECT_EQ(said_of_an_outage(waiting), "rowlock: away; trying again\n");
}

TEST_F(LossReporter, LeavesAnOutageWithoutAWaitToTheCaller) {
  loss_reporter trying_once{witness_, {}, false, {}};
  EXPECT_EQ(said_of_an_outage(trying_once), "");
}

TEST_F(LossReporter, LeavesAnOutageAfterItsWaitToTheCaller) {
  loss_reporter waiting{witness_, {}, true, {}};
  waiting.waited({});
  EXPECT_EQ(said_of_an_outage(waiting), "");
}

}  // namespace
}  // namespace rowlock::cli
