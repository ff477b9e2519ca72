// The user and the folder of a server, which refuses to run as root.
#include "support/server_user.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "support/child_process.hpp"

namespace rowlock::tests {

namespace {

/// Null: ourselves.
const passwd* server_user() {
  if (geteuid() != 0) return nullptr;
  for (const char* name : {"postgres", "nobody"}) {
    if (const auto* found = getpwnam(name)) return found;  // NOLINT(concurrency-mt-unsafe)
  }
  throw std::runtime_error{"no user to run a server as: neither postgres nor nobody exists"};
}

}  // namespace

server_folder::server_folder() {
  if (const auto* user = server_user()) {
    if (chown(path().c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::system_error{errno, std::generic_category(), "chown"};
    }
  }
  std::filesystem::permissions(path(), std::filesystem::perms{0755});
}

std::vector<std::string> server_folder::in_it(const std::vector<std::string>& command,
                                              const std::string& signal_at_our_end) const {
  std::vector<std::string> whole{"env", "-C", path(), "setpriv", "--pdeathsig", signal_at_our_end};
  if (const auto* user = server_user()) {
    whole.insert(whole.end(), {"--reuid", std::to_string(user->pw_uid), "--regid",
                               std::to_string(user->pw_gid), "--clear-groups"});
  }
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

void run_to_the_end(const std::vector<std::string>& command) {
  child_process running{command};
  const auto said = running.read_rest();
  if (running.wait() != 0)
    throw std::runtime_error{command.back() + ": " + said + running.errors()};
}

}  // namespace rowlock::tests
