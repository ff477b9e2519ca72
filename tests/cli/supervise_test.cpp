// A command runs while its lease is held.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "cli/locked_command.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/patience.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

/// In a process of its own, as a signal_queue blocks signals for good.
bool is_started_after_the_ttl(const std::string& proof) {
  // The command inherits it: SIGTERM would end it before it shows that it was started.
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  cli::signal_queue signals;
  const auto time = std::make_shared<manual_time>();
  memory_store rows{time};
  lock_table locks{rows, {.ttl = 30s, .time = time}};
  const lease held = *locks.try_acquire({"job", "a"});
  time->advance(1h);
  const auto end = cli::supervise(
      held, {.path = "/usr/bin/touch", .arguments = {"touch", proof}, .environment = {}}, signals,
      1h);
  return !end.was_notified_of_loss || std::filesystem::exists(proof);
}

/// A command at whose file exec waits, as on a file system that does not answer: this process has
/// the file's lease, and a kernel takes that away only after 45 seconds.
class hanging_command {
 public:
  explicit hanging_command(std::filesystem::path path) : path_{std::move(path)} {
    std::ofstream{path_} << "#!/bin/sh\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    signal(SIGIO, SIG_IGN);  // of an exec that waits
    file_ = cli::file_descriptor{open(path_.c_str(), O_RDONLY | O_CLOEXEC), "open"};
    if (fcntl(file_.number(), F_SETLEASE, F_WRLCK) != 0) throw std::runtime_error{"no lease"};
  }

  [[nodiscard]] cli::command command() const {
    return {.path = path_, .arguments = {"hangs"}, .environment = {}};
  }
  /// False if no exec comes.
  [[nodiscard]] bool await_exec() const {
    return comes([&] { return fcntl(file_.number(), F_GETLEASE) != F_WRLCK; });
  }
  /// Whether the kernel still keeps others waiting for the file.
  [[nodiscard]] bool is_hanging() const {
    return open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) == -1 && errno == EWOULDBLOCK;
  }

 private:
  const std::filesystem::path path_;
  cli::file_descriptor file_;
};

/// Of a command whose exec hangs when its lease is lost, or when SIGTERM comes.
bool ends_while_exec_hangs(const std::filesystem::path& path, bool is_lost) {
  const hanging_command hanging{path};
  cli::signal_queue signals;
  const auto time = std::make_shared<manual_time>();
  memory_store rows{time};
  lock_table locks{rows, {.ttl = 30s, .renew = false, .time = time}};
  const lease held = *locks.try_acquire({"job", "a"});
  const std::jthread meanwhile{[&] {
    if (!hanging.await_exec()) _exit(2);
    is_lost ? time->advance(1h) : (void)kill(getpid(), SIGTERM);
  }};
  const auto end = cli::supervise(held, hanging.command(), signals, 1h);
  return end.exit_code == 128 + SIGTERM && end.was_notified_of_loss == is_lost &&
         end.was_end_requested != is_lost && hanging.is_hanging();
}

/// Whether `holds` returns true in a process of its own.
template <class Check>
bool holds_in_a_child(const Check& holds) {
  const pid_t child = fork();
  if (child == 0) _exit(holds() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST(Supervise, StartsNoCommandWhoseLeaseIsOver) {
  const temp_folder folder;
  EXPECT_TRUE(holds_in_a_child([&] { return !is_started_after_the_ttl(folder.path() / "proof"); }));
}

TEST(Supervise, EndsACommandThatIsStillBeingStartedWhenItsLeaseIsLost) {
  const temp_folder folder;
  EXPECT_TRUE(holds_in_a_child([&] { return ends_while_exec_hangs(folder.path() / "c", true); }));
}

TEST(Supervise, EndsACommandThatIsStillBeingStartedWhenASignalComes) {
  const temp_folder folder;
  EXPECT_TRUE(holds_in_a_child([&] { return ends_while_exec_hangs(folder.path() / "c", false); }));
}

}  // namespace
}  // namespace rowlock::tests
