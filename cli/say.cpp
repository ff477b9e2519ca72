// Messages of the command, on the standard error.
#include "cli/say.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "cli/message_writer.hpp"
#include "cli/password_mask.hpp"
#include "cli/printable.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::cli {

namespace {

/// Never destroyed: threads that a silent database blocks may print while the process ends.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one standard error a process
std::atomic<message_writer*> background{nullptr};

/// A store that reads `--url-file` again learns in a thread of its own, while others print.
struct shared_mask {
  detail::checked_mutex mutex;
  password_mask passwords ROWLOCK_GUARDED_BY(mutex);
};

shared_mask& shared() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static auto* const all = std::make_unique<shared_mask>().release();
  return *all;
}

}  // namespace

void say(std::string_view message) {
  // In one piece, because the command that runs under the lock writes to the same place.
  std::string line = "rowlock: " + printable(without_passwords(std::string{message})) + '\n';
  if (message_writer* const writer = background) {
    writer->write(std::move(line));
  } else {
    std::cerr << line;
  }
}

std::string without_passwords(std::string text) {
  auto& known = shared();
  const detail::checked_lock lock{known.mutex};
  return known.passwords.apply(std::move(text));
}

void hide_passwords_of(std::string_view url) {
  auto& known = shared();
  const detail::checked_lock lock{known.mutex};
  known.passwords.learn_url(url);
  for (const char* const name : {"PGPASSWORD", "MYSQL_PWD"}) {
    const char* const password = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (password != nullptr) known.passwords.learn(password);
  }
}

void say_in_background() { background = std::make_unique<message_writer>(STDERR_FILENO).release(); }

void await_said(std::chrono::milliseconds limit) {
  if (message_writer* const writer = background) writer->await_end(limit);
}

void end_process(int exit_code) {
  await_said();
  std::_Exit(exit_code);
}

}  // namespace rowlock::cli
