// Files with a secret, which only their owner may use.
#include "cli/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

/// A file, as messages name it.
struct named_file {
  std::string_view option;
  const std::string& path;
  std::string_view content;
};

[[noreturn]] void refuse(const named_file& file, const std::string& why) {
  throw misuse("{} {} {}", file.option, file.path, why);
}

/// The same rule as libpq has for its password file. A terminal is allowed: a user types there.
void require_privacy(int opened, const named_file& file) {
  struct stat found {};
  if (fstat(opened, &found) != 0 || S_ISDIR(found.st_mode))
    refuse(file, "is no file with a " + std::string{file.content} + " in it");
  if (!S_ISCHR(found.st_mode) && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    refuse(file, "can be used by others than its owner: chmod 600 takes that away");
  }
}

std::string reason_now() { return std::generic_category().message(errno); }

}  // namespace

std::string private_line_of(std::string_view option, const std::string& path,
                            std::string_view content) {
  const named_file named{option, path, content};
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened == -1) refuse(named, "cannot be read: " + reason_now());
  const file_descriptor file{opened, "open"};
  require_privacy(file.number(), named);
  constexpr std::size_t longest = 65536;
  std::string text;
  std::array<char, 4096> chunk{};
  while (text.find('\n') == std::string::npos && text.size() <= longest) {
    const auto received = read(file.number(), chunk.data(), chunk.size());
    if (received == -1 && errno == EINTR) continue;
    if (received <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(received));
  }
  text.resize(std::min(text.find('\n'), text.size()));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  if (text.empty()) refuse(named, "has no " + std::string{content} + " in its first line");
  return text;
}

private_file::private_file(std::string_view option, std::string path)
    : path_{std::move(path)}, temporary_{path_ + ".XXXXXX"} {
  std::error_code unknown;
  if (std::filesystem::is_directory(path_, unknown)) {
    throw misuse("{} {} is a folder: name a file in it", option, path_);
  }
  const int opened = mkostemp(temporary_.data(), O_CLOEXEC);  // with mode 0600
  if (opened == -1) {
    throw misuse("{} {} cannot be written: {}", option, path_, reason_now());
  }
  file_ = file_descriptor{opened, "mkostemp"};
}

private_file::~private_file() {
  if (!is_written_) unlink(temporary_.c_str());
}

void private_file::write(std::string_view line) {
  const auto text = std::string{line} + '\n';
  const auto written = ::write(file_.number(), text.data(), text.size());
  const bool is_whole = written == static_cast<ssize_t>(text.size());
  if (!is_whole || rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw command_error{exit_code::output_failed, path_ + " could not be written: " + reason_now()};
  }
  is_written_ = true;
}

}  // namespace rowlock::cli
