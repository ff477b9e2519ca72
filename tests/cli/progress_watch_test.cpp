// Signs that a command gets on.
#include "cli/progress_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "support/patience.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ProgressWatch : public testing::Test {
 protected:
  void watch(std::optional<std::string> file = {}) {
    watch_.emplace(
        progress_options{.within = 1h, .file = std::move(file)}, [this] { ++signs_; }, watched_);
  }
  [[nodiscard]] std::string variable(const std::string& name) const {
    for (const auto& each : watched_.environment) {
      if (each.starts_with(name + '=')) return each.substr(name.size() + 1);
    }
    return {};
  }
  void notify(const std::string& text) const {
    const auto name = variable("NOTIFY_SOCKET");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin() + 1, name.end(), &address.sun_path[1]);
    const file_descriptor from{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"};
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ASSERT_EQ(sendto(from.number(), text.data(), text.size(), 0,
                     reinterpret_cast<const sockaddr*>(&address), length),
              static_cast<ssize_t>(text.size()));
  }
  void await_signs(int count) const {
    tests::await_that([&] { return signs_ >= count; });
  }

  std::atomic<int> signs_ = 0;
  command watched_;
  std::optional<progress_watch> watch_;
};

TEST_F(ProgressWatch, SeesOutputAndPassesItOn) {
  testing::internal::CaptureStdout();
  watch();
  EXPECT_NE(watched_.output, STDOUT_FILENO);
  EXPECT_NE(watched_.errors, STDERR_FILENO);
  ASSERT_EQ(write(watched_.output, "step 1\n", 7), 7);
  await_signs(1);
  ASSERT_EQ(write(watched_.output, "step 2\n", 7), 7);
  watch_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "step 1\nstep 2\n");
}

TEST_F(ProgressWatch, SeesTheStandardError) {
  testing::internal::CaptureStderr();
  watch();
  ASSERT_EQ(write(watched_.errors, "step\n", 5), 5);
  watch_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "step\n");
  EXPECT_EQ(signs_, 1);
}

TEST_F(ProgressWatch, SeesChangesOfAFileAndThenNoOutput) {
  const tests::temp_folder folder;
  const std::string file = folder.path() / "progress";
  watch(file);
  EXPECT_EQ(watched_.output, STDOUT_FILENO);
  EXPECT_EQ(watched_.errors, STDERR_FILENO);
  std::ofstream{file} << "1";
  await_signs(1);
  std::ofstream{file} << "22";
  await_signs(2);
}

TEST_F(ProgressWatch, SeesWhatSystemdsWatchdogSees) {
  watched_.environment = {"NOTIFY_SOCKET=/run/systemd/notify", "WATCHDOG_PID=1", "HOME=/root"};
  watch();
  EXPECT_EQ(watched_.environment.size(), 3U) << "what systemd gave this process";
  EXPECT_EQ(variable("WATCHDOG_PID"), "");
  EXPECT_EQ(variable("WATCHDOG_USEC"), "3600000000");
  notify("STATUS=working");
  notify("WATCHDOG=1");
  await_signs(1);
  notify("STATUS=half\nWATCHDOG=1\nREADY=1");
  await_signs(2);
  EXPECT_EQ(signs_, 2);
}

TEST_F(ProgressWatch, PassesNotificationsOnToTheSocketItWasGiven) {
  const tests::temp_folder folder;
  const std::string path = folder.path() / "notify";
  const file_descriptor outer{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  ASSERT_EQ(bind(outer.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  watch();
  notify("READY=1");
  std::array<char, 100> text{};
  const auto received = recv(outer.number(), text.data(), text.size(), 0);
  unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(received)), "READY=1");
}

}  // namespace
}  // namespace rowlock::cli
