// Operations that use the store, and the wait for their end.
#include "lease/operation_gate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <string>

#include "support/patience.hpp"

namespace rowlock::detail {
namespace {

/// Whether the kernel lets this thread wait.
bool waits(pid_t thread) {
  std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/stat"};
  std::string told;
  std::getline(file, told);
  const auto name = told.rfind(')');
  return name != std::string::npos && told.substr(name + 2, 1) == "S";
}

TEST(OperationGate, LetsNoOperationBeginOnceClosed) {
  operation_gate gate;
  EXPECT_TRUE(gate.enter());
  gate.close();
  EXPECT_FALSE(gate.enter());
  gate.await_last();
}

TEST(OperationGate, WaitsForOperationsThatHaveBegun) {
  operation_gate gate;
  auto first = gate.enter();
  auto last = gate.enter();
  gate.close();
  std::atomic<pid_t> thread{0};
  const auto over = std::async(std::launch::async, [&] {
    thread = gettid();
    gate.await_last();
  });
  tests::await_that([&] { return thread != 0 && waits(thread); });
  first.reset();
  EXPECT_EQ(over.wait_for(std::chrono::seconds{0}), std::future_status::timeout);
  {
    const auto moved = *std::move(last);
    last.reset();  // it was moved from
    EXPECT_EQ(over.wait_for(std::chrono::seconds{0}), std::future_status::timeout);
  }
  EXPECT_EQ(over.wait_for(tests::patience), std::future_status::ready);
}

}  // namespace
}  // namespace rowlock::detail
