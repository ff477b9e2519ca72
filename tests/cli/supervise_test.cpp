// A command runs while its lease is held.
#include "cli/supervise.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"
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

TEST(Supervise, StartsNoCommandWhoseLeaseIsOver) {
  const temp_folder folder;
  const pid_t child = fork();
  if (child == 0) _exit(is_started_after_the_ttl(folder.path() / "proof") ? 1 : 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace rowlock::tests
