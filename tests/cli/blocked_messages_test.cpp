// A standard error that no process reads holds up neither signals nor the end of a lost command.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>

#include "cli/cli_test.hpp"
#include "cli/file_descriptor.hpp"
#include "cli/message_writer.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

/// A named pipe without room, which nothing reads until `read_text`.
class full_pipe {
 public:
  full_pipe() {
    const std::string fill(4096, '.');
    while (write(ends_.number(), fill.data(), fill.size()) > 0) {
    }
    if (errno != EAGAIN) throw std::system_error{errno, std::generic_category(), "write"};
  }

  [[nodiscard]] std::string path() const { return folder_.path() / "pipe"; }

  /// Reads until a line that has `last` in it has come.
  std::string read_through(const std::string& last) const {
    std::string all;
    std::array<char, 4096> chunk{};
    const auto is_said = [&] {
      const auto received = read(ends_.number(), chunk.data(), chunk.size());
      if (received > 0) all.append(chunk.data(), static_cast<std::size_t>(received));
      const auto found = all.find(last);
      return found != std::string::npos && all.find('\n', found) != std::string::npos;
    };
    await_that(is_said, {}, [&] { return last; });
    return all;
  }

 private:
  [[nodiscard]] int open_both_ends() const {
    if (mkfifo(path().c_str(), 0600) != 0) return -1;
    return open(path().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  }

  const temp_folder folder_;
  const cli::file_descriptor ends_{open_both_ends(), "open"};
};

class CliBlockedMessagesTest : public LockedCliTest {
 protected:
  /// With a standard error that no process reads.
  [[nodiscard]] words unread(const words& command) const {
    return words{"sh", "-c", R"(exec 2>"$0"; exec "$@")", pipe_.path()} + command;
  }
  void move_version() const { execute("update shared_lock set version = version + 1"); }

  const full_pipe pipe_;
};

TEST_P(CliBlockedMessagesTest, ALossEndsTheCommandAndSignalsArePassedOn) {
  child_process running{
      unread(script_under_lock(script_with(R"(trap "echo signalled" TERM; trap "exit 3" INT)"),
                               {"--ttl", "3s", "--grace", "1h"}))};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  EXPECT_EQ(running.read_line(), "signalled");
  running.send_signal(SIGINT);
  EXPECT_EQ(running.wait(), 76);
}

TEST_P(CliBlockedMessagesTest, ASignalEndsALeader) {
  child_process leading{
      unread(rowlock("lead", {"--type", "invoice", "--source", "42", "--", "sh", "-c",
                              script_with(R"(trap "echo signalled; exit 0" TERM)")}))};
  ASSERT_EQ(leading.read_line(), "started");
  leading.send_signal(SIGTERM);
  EXPECT_EQ(leading.read_line(), "signalled");
  EXPECT_EQ(leading.wait(), 0);
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliBlockedMessagesTest, WhatWasSaidIsWrittenOnceItIsRead) {
  child_process leading{unread(rowlock("lead", {"--type", "invoice", "--source", "42", "--", "sh",
                                                "-c", script_with("trap 'exit 0' TERM")}))};
  ASSERT_EQ(leading.read_line(), "started");
  EXPECT_NE(pipe_.read_through("term").find("rowlock: leads invoice/42"), std::string::npos);
}

ROWLOCK_ON_EVERY_DATABASE(CliBlockedMessagesTest);

TEST(MessageWriter, CountsWhatItDrops) {
  const full_pipe pipe;
  const cli::file_descriptor written{open(pipe.path().c_str(), O_WRONLY | O_CLOEXEC), "open"};
  cli::message_writer writer{written.number()};
  writer.write("first\n");
  writer.await_end(std::chrono::milliseconds{1});
  constexpr std::size_t more = cli::message_writer::longest_queue + 5;
  for (std::size_t i = 0; i < more; ++i) writer.write("more\n");
  const auto all = pipe.read_through("dropped");
  EXPECT_NE(all.find("first\n"), std::string::npos);
  std::size_t kept = 0;
  for (auto at = all.find("more\n"); at != std::string::npos; at = all.find("more\n", at + 1))
    ++kept;
  EXPECT_NE(all.find("rowlock: " + std::to_string(more - kept) + " messages were dropped"),
            std::string::npos)
      << all.substr(all.find("first"));
  writer.await_end(patience);
  writer.write("last\n");
  EXPECT_NE(pipe.read_through("last").find("last"), std::string::npos);
}

}  // namespace

}  // namespace rowlock::tests
