// Search for a command in PATH.
#include "cli/command_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "cli/exit_codes.hpp"

namespace rowlock::cli {

namespace {

/// 0, or the errno that says why the file cannot be run.
int why_not_runnable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

bool is_absence(int reason) { return reason == ENOENT || reason == ENOTDIR; }

[[noreturn]] void refuse(const std::string& name, int reason) {
  if (is_absence(reason)) throw command_error{exit_code::not_found, name + ": command not found"};
  throw command_error{exit_code::not_runnable,
                      name + ": cannot be run: " + std::generic_category().message(reason)};
}

std::string_view search_path() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no thread changes it
  return path != nullptr ? path : "/usr/bin:/bin";
}

}  // namespace

std::string find_command(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const int reason = why_not_runnable(name);
    if (reason != 0) refuse(name, reason);
    return name;
  }
  if (name.empty()) throw command_error{exit_code::not_found, "the name of the command is empty"};
  int reason = ENOENT;
  std::string_view folders = search_path();
  for (;;) {
    const auto end = folders.find(':');
    const std::string_view folder = folders.substr(0, end);
    std::string path = (folder.empty() ? "." : std::string{folder}) + '/' + name;
    const int why_not = why_not_runnable(path);
    if (why_not == 0) return path;
    // A file of that name that cannot be run is a better reason than no file. A folder is not.
    if (!is_absence(why_not) && why_not != EISDIR) reason = why_not;
    if (end == std::string_view::npos) refuse(name, reason);
    folders.remove_prefix(end + 1);
  }
}

}  // namespace rowlock::cli
