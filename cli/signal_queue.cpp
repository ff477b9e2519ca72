// Queue of blocked signals, read from a descriptor.
#include "cli/signal_queue.hpp"

#include <unistd.h>

namespace rowlock::cli {

namespace {

bool is_ignored(int number) {
  struct sigaction present {};
  sigaction(number, nullptr, &present);
  return present.sa_handler == SIG_IGN;
}

}  // namespace

signal_queue::signal_queue(bool with_stops, std::initializer_list<int> more) {
  // The parent may have set it to ignored, and then the kernel would discard the command's exit
  // code.
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &normal, nullptr);

  sigset_t queued;
  sigemptyset(&queued);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) {
    if (!is_ignored(number)) sigaddset(&queued, number);
  }
  if (with_stops && !is_ignored(SIGTSTP)) sigaddset(&queued, SIGTSTP);
  for (const int number : more) sigaddset(&queued, number);
  sigset_t blocked = queued;
  sigaddset(&blocked, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &blocked, &original_mask_);
  queue_ = file_descriptor{signalfd(-1, &queued, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"};
}

std::optional<signalfd_siginfo> signal_queue::next(const std::function<void(int)>& others) {
  for (;;) {
    signalfd_siginfo came{};
    if (read(queue_.number(), &came, sizeof came) != sizeof came) return {};
    if (came.ssi_signo != SIGTSTP) return came;
    others(SIGSTOP);
    kill(getpid(), SIGSTOP);
    others(SIGCONT);
  }
}

}  // namespace rowlock::cli
