// A program that a test starts, talks to line by line, and never leaves behind.
#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/group_guard.hpp"

namespace rowlock::tests {

namespace {

using clock = std::chrono::steady_clock;

int or_throw(int result, const char* what) {
  if (result == -1) throw std::system_error{errno, std::generic_category(), what};
  return result;
}

void close_once(int& file) {
  if (file != -1) close(std::exchange(file, -1));
}

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends open_pipe() {
  std::array<int, 2> ends{};
  or_throw(pipe2(ends.data(), O_CLOEXEC), "pipe2");
  return {ends[0], ends[1]};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> ours_and(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string text{*entry};
    if (!added.contains(text.substr(0, text.find('=')))) all.push_back(std::move(text));
  }
  for (const auto& [name, value] : added) all.push_back(name + '=' + value);
  return all;
}

/// True when `file` is ready, false when the time is over first.
bool is_ready(int file, clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    pollfd waiting{file, POLLIN, 0};
    const int ready = poll(&waiting, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) or_throw(ready, "poll");
  }
}

void forget(pid_t group) noexcept {
  try {
    forget_group(group);
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
  }
}

/// Only calls that are allowed between fork and exec in a program with threads.
[[noreturn]] void become(const std::vector<char*>& command, const std::vector<char*>& environment,
                         int input, int output, int errors, int failed) {
  setpgid(0, 0);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  // A shell ignores the other two in what it starts in the background, and so what started us may.
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) signal(number, SIG_DFL);
  execvpe(command.front(), command.data(), environment.data());
  const int reason = errno;
  [[maybe_unused]] const auto written = write(failed, &reason, sizeof reason);
  _exit(127);
}

}  // namespace

child_process::child_process(const std::vector<std::string>& command,
                             const std::map<std::string, std::string>& environment)
    : name_{command.at(0)} {
  // A child that is gone must be an error of write(), not our end.
  signal(SIGPIPE, SIG_IGN);
  auto command_texts = command;
  auto environment_texts = ours_and(environment);
  const auto arguments = pointers_to(command_texts);
  const auto variables = pointers_to(environment_texts);
  pipe_ends input = open_pipe();
  pipe_ends output = open_pipe();
  pipe_ends failed = open_pipe();
  errors_ = or_throw(memfd_create("errors", MFD_CLOEXEC), "memfd_create");

  pid_ = or_throw(fork(), "fork");
  if (pid_ == 0) become(arguments, variables, input.read, output.write, errors_, failed.write);
  setpgid(pid_, pid_);  // both do it, so that it is done whichever comes first
  guard_group(pid_);
  process_ = or_throw(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)), "pidfd_open");
  close_once(input.read);
  close_once(output.write);
  close_once(failed.write);
  input_ = input.write;
  output_ = output.read;

  int reason = 0;
  const auto received = read(failed.read, &reason, sizeof reason);
  close_once(failed.read);
  if (received > 0) {
    wait();
    throw std::system_error{reason, std::generic_category(), "cannot run " + name_};
  }
}

child_process::~child_process() {
  // Before it is reaped, because until then no other process can have its number.
  kill(-pid_, SIGKILL);
  forget(pid_);
  waitpid(pid_, nullptr, 0);
  close_once(input_);
  close_once(output_);
  close_once(errors_);
  close_once(process_);
}

bool child_process::read_more(clock::time_point until) {
  if (!is_ready(output_, until)) {
    throw std::runtime_error{name_ + " is silent; it wrote to its standard error: " + errors()};
  }
  std::array<char, 4096> chunk{};
  const auto received = read(output_, chunk.data(), chunk.size());
  if (received > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(received));
  return received > 0;
}

std::optional<std::string> child_process::read_line(std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  for (;;) {
    const auto end = buffer_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (!read_more(until)) break;
  }
  if (buffer_.empty()) return {};
  return std::exchange(buffer_, {});
}

std::string child_process::read_rest(std::chrono::milliseconds within) {
  const auto until = clock::now() + within;
  while (read_more(until)) {
  }
  return std::exchange(buffer_, {});
}

std::string child_process::errors() const {
  std::string text;
  std::array<char, 4096> chunk{};
  for (;;) {
    const auto received =
        pread(errors_, chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    if (received <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(received));
  }
}

void child_process::write_line(const std::string& line) {
  const std::string text = line + '\n';
  if (write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error{name_ + " does not read; it wrote to its standard error: " + errors()};
  }
}

void child_process::close_input() { close_once(input_); }

void child_process::send_signal(int number) const {
  if (!status_) or_throw(kill(pid_, number), "kill");
}

bool child_process::has_ended() const { return status_ || is_ready(process_, clock::now()); }

int child_process::wait(std::chrono::milliseconds within) {
  if (!status_) {
    if (!is_ready(process_, clock::now() + within)) {
      throw std::runtime_error{name_ +
                               " does not end; it wrote to its standard error: " + errors()};
    }
    siginfo_t ended{};
    or_throw(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT), "waitid");
    status_ = ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
  }
  return *status_;
}

}  // namespace rowlock::tests
