// Starts, stops and kills a child process.
#include "worker_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <system_error>
#include <utility>

#include "interruption.hpp"

namespace settlement {
namespace {

pid_t checked_fork() {
  std::cout.flush();  // what stands in its buffer would be printed twice
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  return child;
}

}  // namespace

worker_process::worker_process(std::string name, const std::function<int()>& body)
    : name_{std::move(name)}, pid_{checked_fork()} {
  if (pid_ > 0) return;

  // Nobody is left behind when the supervisor itself is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  stop_catching_signals();
  int code = 1;
  try {
    code = body();
  } catch (const std::exception& problem) {
    std::cerr << name_ + ": " + problem.what() + "\n";
  }
  // Not exit: what the parent built is the parent's to take down.
  ::_exit(code);
}

worker_process::worker_process(worker_process&& other) noexcept
    : name_{std::move(other.name_)},
      pid_{other.pid_},
      is_over_{std::exchange(other.is_over_, true)},
      status_{other.status_} {}

worker_process::~worker_process() { kill(); }

bool worker_process::is_running() {
  if (!is_over_) is_over_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return !is_over_;
}

bool worker_process::stop() {
  if (!is_running()) return false;
  ::kill(pid_, SIGSTOP);
  while (::waitpid(pid_, &status_, WUNTRACED) < 0) {
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "waitpid"};
  }
  is_over_ = !WIFSTOPPED(status_);
  return !is_over_;
}

void worker_process::resume() const noexcept {
  if (!is_over_) ::kill(pid_, SIGCONT);
}

void worker_process::kill() noexcept {
  if (is_over_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  is_over_ = true;
}

bool worker_process::has_succeeded() const noexcept {
  return is_over_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

std::string worker_process::ending() const {
  if (!is_over_) return "still running";
  if (WIFSIGNALED(status_)) return "killed by signal " + std::to_string(WTERMSIG(status_));
  return has_succeeded() ? "done" : "failed with code " + std::to_string(WEXITSTATUS(status_));
}

}  // namespace settlement
