// Search for live processes of a group.
#include "cli/process_group.hpp"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace rowlock::cli {

namespace {

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

bool is_number(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
}

/// The processes of `group` that have ended and are not reaped; none if another one is alive.
std::optional<std::set<pid_t>> all_ended(pid_t group) {
  std::set<pid_t> ended;
  std::error_code failure;
  std::filesystem::directory_iterator each{"/proc", failure};
  for (; !failure && each != std::filesystem::directory_iterator{}; each.increment(failure)) {
    const std::string name = each->path().filename();
    if (!is_number(name)) continue;
    const auto state = state_in(each->path() / "stat");
    if (!state || state->group != group) continue;
    if (state->is_alive()) return std::nullopt;
    ended.insert(std::stoi(name));
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

}  // namespace rowlock::cli
