// Notes signals.
#include "interruption.hpp"

#include <array>
#include <csignal>

namespace settlement {
namespace {

constexpr std::array caught{SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach nothing else.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t received = 0;

void note(int number) { received = number; }

void handle_all(void (*handler)(int)) {
  for (const int number : caught) std::signal(number, handler);
}

}  // namespace

void catch_signals() { handle_all(note); }

void stop_catching_signals() { handle_all(SIG_DFL); }

void throw_if_interrupted() {
  if (received != 0) throw interrupted{received};
}

}  // namespace settlement
