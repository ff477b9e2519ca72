// Start, signalling and reaping of the child process.
#include "cli/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

/// Everything that the forked process needs, made before the fork.
struct start {
  const char* path;
  std::vector<char*> arguments;
  std::vector<char*> arguments_of_shell;
  std::vector<char*> environment;
  sigset_t mask;
  pid_t parent;
  int link;
  int parents_link;
  bool has_own_group;
  int output;
  int errors;
};

/// The open descriptors of this process, in order; empty if they cannot be listed.
std::vector<unsigned> open_descriptors() noexcept {
  std::vector<unsigned> open;
  try {
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
      open.push_back(static_cast<unsigned>(std::stoul(each.path().filename())));
    }
  } catch (const std::exception&) {
    return {};
  }
  // The directory iterator's own descriptor is closed by now.
  std::erase_if(open, [](unsigned each) { return fcntl(static_cast<int>(each), F_GETFD) == -1; });
  std::sort(open.begin(), open.end());
  return open;
}

/// The inherited descriptors: before main, this process has opened none itself.
const std::vector<unsigned> given_descriptors = open_descriptors();

/// Closes all other descriptors at exec. Drivers open sockets in other threads and set
/// close-on-exec a moment later.
void keep_what_is_ours() {
  if (given_descriptors.empty()) return;
  unsigned first = 3;  // the standard ones are there in any case
  for (const unsigned given : given_descriptors) {
    if (given < first) continue;
    if (given > first) close_range(first, given - 1, CLOSE_RANGE_CLOEXEC);
    first = given + 1;
  }
  close_range(first, std::numeric_limits<unsigned>::max(), CLOSE_RANGE_CLOEXEC);
}

/// exec takes `char*` for historical reasons and does not write there.
char* as_exec_wants(const std::string& text) {
  return const_cast<char*>(text.c_str());  // NOLINT(*-type-const-cast): as it says
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const auto& text : texts) pointers.push_back(as_exec_wants(text));
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs after fork: threads that held locks do not exist here, so only calls that POSIX allows in a
/// signal handler are safe.
[[noreturn]] void become(const start& how) {
  close(how.parents_link);
  // A session, not only a process group: a background group of the terminal could not read from it.
  if (how.has_own_group) setsid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != how.parent) _exit(exit_code::not_runnable);  // it ended before prctl
  char go = 0;
  ssize_t received = -1;
  do {
    received = read(how.link, &go, 1);
  } while (received == -1 && errno == EINTR);
  if (received != 1) _exit(exit_code::not_runnable);

  if (how.output != STDOUT_FILENO) dup2(how.output, STDOUT_FILENO);
  if (how.errors != STDERR_FILENO) dup2(how.errors, STDERR_FILENO);
  keep_what_is_ours();
  pthread_sigmask(SIG_SETMASK, &how.mask, nullptr);
  execve(how.path, how.arguments.data(), how.environment.data());
  // The shell runs a script without a `#!` line.
  if (errno == ENOEXEC) {
    execve("/bin/sh", how.arguments_of_shell.data(), how.environment.data());
  }
  const int reason = errno;
  [[maybe_unused]] const auto written = write(how.link, &reason, sizeof reason);
  _exit(exit_code::not_runnable);
}

struct process_state {
  char letter = '?';
  pid_t group = -1;
  long threads = 0;

  /// The first thread of a process may have ended before others.
  [[nodiscard]] bool is_alive() const { return (letter != 'Z' && letter != 'X') || threads > 1; }
};

/// From `/proc/PID/stat`; none if it cannot be read: the process is gone, or hidden from this user.
std::optional<process_state> state_in(const std::filesystem::path& file) {
  std::ifstream opened{file};
  std::string line;
  std::getline(opened, line, '\0');
  // The second field is a name in parentheses, which may contain anything.
  const auto end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream fields{line.substr(end_of_name + 1)};
  process_state found;
  std::string unused;
  fields >> found.letter >> unused >> found.group;
  constexpr int between_group_and_threads = 14;
  for (int i = 0; i < between_group_and_threads; ++i) fields >> unused;
  if (!(fields >> found.threads)) return {};
  return found;
}

/// The processes of `group` that have ended and are not reaped; none if another one is alive.
std::optional<std::set<pid_t>> all_ended(pid_t group) {
  std::set<pid_t> ended;
  std::error_code failure;
  std::filesystem::directory_iterator each{"/proc", failure};
  for (; !failure && each != std::filesystem::directory_iterator{}; each.increment(failure)) {
    const auto id = whole_number<pid_t>(each->path().filename().string());
    const auto state = id ? state_in(each->path() / "stat") : std::nullopt;
    if (!state || state->group != group) continue;
    if (state->is_alive()) return std::nullopt;
    ended.insert(*id);
  }
  return ended;
}

}  // namespace

bool has_living_process(pid_t group) {
  // A process that starts while /proc is read may be missed. Its parent, which was alive then, has
  // ended since: so two scans with the same result miss none.
  constexpr int most_scans = 3;
  std::set<pid_t> before;
  for (int scan = 0; scan < most_scans; ++scan) {
    // EPERM: there are some, all of other users.
    if (kill(-group, 0) != 0 && errno != EPERM) return false;
    auto ended = all_ended(group);
    if (!ended || ended->empty()) return true;
    if (ended == before) return false;
    before = *std::move(ended);
  }
  return true;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  const auto name_of = [](std::string_view variable) {
    return variable.substr(0, variable.find('='));
  };
  std::vector<std::string> all = added;
  for (char** each = environ; *each != nullptr; ++each) {
    const auto replaces = [&](const auto& other) { return name_of(other) == name_of(*each); };
    if (std::none_of(added.begin(), added.end(), replaces)) all.emplace_back(*each);
  }
  return all;
}

child_process::child_process(const command& to_run, const sigset_t& mask)
    : name_{to_run.arguments.front()} {
  std::array<int, 2> ends{};
  const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
  link_ = file_descriptor{made == 0 ? ends[0] : -1, "socketpair"};
  const file_descriptor childs_link{ends[1], "socketpair"};
  start how{.path = to_run.path.c_str(),
            .arguments = pointers_to(to_run.arguments),
            .arguments_of_shell = pointers_to(to_run.arguments),
            .environment = pointers_to(to_run.environment),
            .mask = mask,
            .parent = getpid(),
            .link = childs_link.number(),
            .parents_link = link_.number(),
            .has_own_group = to_run.has_own_group,
            .output = to_run.output,
            .errors = to_run.errors};
  // sh path argument..., for name argument...
  const std::string shell = "sh";
  how.arguments_of_shell.front() = as_exec_wants(to_run.path);
  how.arguments_of_shell.insert(how.arguments_of_shell.begin(), as_exec_wants(shell));

  // Processes that the command leaves behind become children of this process, which can reap them.
  if (to_run.has_own_group) prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_ = fork();
  if (pid_ == 0) become(how);
  if (pid_ == -1) {
    throw command_error{exit_code::unavailable,
                        fmt::format("{}: the system starts no process for it: {}; raise its limit "
                                    "of processes, or of memory",
                                    name_, std::generic_category().message(errno))};
  }
  if (to_run.has_own_group) group_ = pid_;
}

child_process::~child_process() {
  if (has_left_others()) kill(-group_, SIGKILL);
  if (pid_ == -1) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) == -1 && errno == EINTR) {
  }
}

// exec is not awaited: it may wait for a file system that does not answer.
void child_process::begin() const {
  const char go = 1;
  ::send(link_.number(), &go, 1, MSG_NOSIGNAL);
}

void child_process::require_started() {
  int reason = 0;
  const auto received = recv(link_.number(), &reason, sizeof reason, MSG_DONTWAIT);
  link_.reset();
  if (received != sizeof reason) return;  // closed by exec, or by a signal
  const bool is_of_a_script = reason == ENOENT || reason == EACCES;
  throw command_error{
      exit_code::not_runnable,
      fmt::format("{}: cannot be run: {}{}", name_, std::generic_category().message(reason),
                  is_of_a_script
                      ? "; if it is a script, look at the program that its first line names"
                      : "")};
}

std::optional<int> child_process::ended() {
  // With a group of its own, this process has to reap all that the command has left behind.
  const pid_t wanted = group_ == -1 ? pid_ : -1;
  while (!code_ || group_ != -1) {
    int status = 0;
    const pid_t reaped = waitpid(wanted, &status, WNOHANG);
    if (reaped == -1 && (!code_ || errno != ECHILD)) {
      throw std::system_error{errno, std::generic_category(), "waitpid"};
    }
    if (reaped <= 0) break;
    if (reaped != pid_) continue;
    pid_ = -1;
    require_started();
    code_ =
        WIFSIGNALED(status) ? exit_code::ended_by_signal(WTERMSIG(status)) : WEXITSTATUS(status);
  }
  return code_;
}

bool child_process::has_left_others() const { return group_ != -1 && has_living_process(group_); }

// A process id stays valid until the process is reaped, a group id while the group has a process.
void child_process::send(int number) const { kill(group_ == -1 ? pid_ : -group_, number); }

bool child_process::was_sent_too(const signalfd_siginfo& ours) const {
  if (ours.ssi_code != SI_KERNEL) return false;
  // When a terminal goes away, only the leader of its session gets a signal.
  if (ours.ssi_signo == SIGHUP && getsid(0) == getpid()) return false;
  return getpgid(pid_) == getpgrp();
}

}  // namespace rowlock::cli
