// Which faults are said, and how often.
#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "cli/loss_reporter.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {
namespace {

fault_event fault_of(fault_operation operation, const std::string& text,
                     errc kind = errc::unavailable) {
  const auto code = make_error_code(kind);
  return {.operation = operation, .code = code, .text = text + ": " + code.message()};
}

class FaultReporter : public testing::Test {
 protected:
  void meet(fault_operation operation, const std::string& text) {
    reporter_.say_once(fault_of(operation, text));
  }
  static std::string said_during(const auto& events) {
    testing::internal::CaptureStderr();
    events();
    return testing::internal::GetCapturedStderr();
  }

  fault_reporter reporter_;
};

TEST_F(FaultReporter, SaysItOnceUntilTheNextGrantOrRenewal) {
  const auto said = said_during([&] {
    for (int i = 0; i < 3; ++i) meet(fault_operation::acquire, "away");
    reporter_.acquired();
    for (int i = 0; i < 3; ++i) meet(fault_operation::renew, "away");
    reporter_.renewed();
    meet(fault_operation::renew, "away");
  });
  const std::string line = "rowlock: away; trying again\n";
  EXPECT_EQ(said, line + line + line);
}

TEST_F(FaultReporter, SaysNothingOfARenewalOfALeaseThatIsOver) {
  reporter_.acquired();
  reporter_.ended();
  EXPECT_EQ(said_during([&] { meet(fault_operation::renew, "away"); }), "");
}

TEST_F(FaultReporter, SaysAReleaseThatFailsAsTheRenewalDid) {
  reporter_.acquired();
  const auto said = said_during([&] {
    meet(fault_operation::renew, "away");
    meet(fault_operation::release, "away");
    meet(fault_operation::release, "starting up");
  });
  EXPECT_EQ(said,
            "rowlock: away; trying again\n"
            "rowlock: away; if no later try releases the key, it frees itself at the end of its "
            "ttl\n");
}

TEST_F(FaultReporter, SaysABoundedNumber) {
  const auto said = said_during([&] {
    for (int i = 0; i < 100; ++i) meet(fault_operation::acquire, std::to_string(i));
  });
  EXPECT_NE(said.find("rowlock: 19;"), std::string::npos);
  EXPECT_EQ(said.find("rowlock: 20;"), std::string::npos);
}

TEST_F(FaultReporter, PromisesNoTryOnceItIsStopped) {
  std::stop_source stopped;
  stopped.request_stop();
  reporter_.stop_with(stopped.get_token());
  EXPECT_EQ(said_during([&] { meet(fault_operation::acquire, "away"); }), "rowlock: away\n");
}

TEST_F(FaultReporter, LeavesTheFaultThatEndsTheCommandToItsLastMessage) {
  const auto rejected = fault_of(fault_operation::acquire, "no table", errc::rejected);
  EXPECT_EQ(said_during([&] { reporter_.say_once(rejected); }), "");
}

}  // namespace
}  // namespace rowlock::cli
