// Choice of the database and the table, without a password in the command line.
#include "cli/table_options.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

#include "cli/file_descriptor.hpp"
#include "cli/say.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error{errc::misuse, "--url-file " + path + ' ' + why};
}

/// The same rule as libpq has for its password file. A terminal is allowed: a user types there.
void require_privacy(int file, const std::string& path) {
  struct stat found {};
  if (fstat(file, &found) != 0 || S_ISDIR(found.st_mode))
    refuse(path, "is no file with a URL in it");
  if (!S_ISCHR(found.st_mode) && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    refuse(path, "can be used by others than its owner: chmod 600 takes that away");
  }
}

std::string first_line_of(const std::string& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened == -1) {
    refuse(path, "cannot be read: " + std::generic_category().message(errno));
  }
  const file_descriptor file{opened, "open"};
  require_privacy(file.number(), path);
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
  if (text.empty()) refuse(path, "has no URL in its first line");
  return text;
}

}  // namespace

void table_options::add_to(CLI::App& subcommand) {
  CLI::Option* const given =
      subcommand.add_option("URL", url, "sqlite:///path, postgresql://... or mysql://...");
  subcommand
      .add_option("--url-file", url_file,
                  "The first line of this file is the URL, which only its owner may read")
      ->type_name("FILE")
      ->excludes(given);
  subcommand.add_option("--table", table, "The lock table: NAME or SCHEMA.NAME")
      ->type_name("NAME")
      ->capture_default_str();
}

database_url table_options::database() const {
  const std::string given = url_as_given();
  hide_passwords_of(given);
  return given;
}

bool table_options::may_change() const {
  std::error_code unknown;
  return url_file && std::filesystem::is_regular_file(*url_file, unknown);
}

std::unique_ptr<store> table_options::open(const database_url& first) const {
  std::function<database_url()> url_now;
  if (may_change()) url_now = [where = *this] { return where.database(); };
  return open_store(first, table_name{table}, url_now);
}

database_url table_options::kind_of_database() const {
  const std::string given = url_as_given();
  hide_passwords_of(given);
  return given == "sqlite://" ? "sqlite:///any" : given;
}

std::string table_options::url_as_given() const {
  if (url) return *url;
  if (url_file) return first_line_of(*url_file);
  const char* const of_environment = std::getenv("ROWLOCK_URL");  // NOLINT(concurrency-mt-unsafe)
  if (of_environment != nullptr && *of_environment != '\0') return of_environment;
  throw error{errc::misuse,
              "no database: give its URL, a file with --url-file, or the variable ROWLOCK_URL"};
}

}  // namespace rowlock::cli
