// A child of fork() that goes on in the middle of a test.
#include "support/forked_child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <sstream>
#include <system_error>

namespace rowlock::tests {

namespace {

constexpr unsigned longest_life = 30;  // seconds

[[noreturn]] void live(int out, const std::function<void(std::vector<std::string>&)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(longest_life);
  std::vector<std::string> complaints;
  try {
    work(complaints);
  } catch (const std::exception& thrown) {
    complaints.push_back(std::string{"it threw: "} + thrown.what());
  }
  std::string text;
  for (const auto& each : complaints) text += each + '\n';
  [[maybe_unused]] const auto written = write(out, text.data(), text.size());
  _exit(0);
}

std::string all_of(int file) {
  std::string text;
  std::array<char, 4096> chunk{};
  for (;;) {
    const auto received = read(file, chunk.data(), chunk.size());
    if (received <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(received));
  }
}

}  // namespace

std::vector<std::string> complaints_of_child(
    const std::function<void(std::vector<std::string>&)>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  const pid_t child = fork();
  if (child == -1) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child == 0) live(ends[1], work);
  close(ends[1]);
  std::istringstream said{all_of(ends[0])};
  close(ends[0]);
  std::vector<std::string> complaints;
  for (std::string line; std::getline(said, line);) complaints.push_back(line);

  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    complaints.push_back("it was ended by signal " + std::to_string(WTERMSIG(status)));
  }
  return complaints;
}

}  // namespace rowlock::tests
