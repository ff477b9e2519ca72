// Which faults a command that waits for its key says.
#include "cli/loss_teller.hpp"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "cli/release_witness.hpp"
#include "rowlock/error.hpp"
#include "rowlock/testing/memory_store.hpp"

namespace rowlock::cli {
namespace {

class LossTellerTest : public testing::Test {
 protected:
  static std::string said_of_an_outage(loss_teller& caught) {
    testing::internal::CaptureStderr();
    const auto code = make_error_code(errc::unavailable);
    caught.fault({.operation = fault_operation::acquire, .code = code, .text = "away"});
    return testing::internal::GetCapturedStderr();
  }

  memory_store rows_;
  release_witness witness_{rows_};
};

TEST_F(LossTellerTest, SaysAnOutageDuringItsWait) {
  loss_teller waiting{witness_, {}, true, {}};
  EXPECT_EQ(said_of_an_outage(waiting), "rowlock: away; trying again\n");
}

TEST_F(LossTellerTest, LeavesAnOutageWithoutAWaitToTheCaller) {
  loss_teller asking_once{witness_, {}, false, {}};
  EXPECT_EQ(said_of_an_outage(asking_once), "");
}

TEST_F(LossTellerTest, LeavesAnOutageAfterItsWaitToTheCaller) {
  loss_teller waiting{witness_, {}, true, {}};
  waiting.waited({});
  EXPECT_EQ(said_of_an_outage(waiting), "");
}

}  // namespace
}  // namespace rowlock::cli
