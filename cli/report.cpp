// rowlock report: the page of rowlock serve as one file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/file_descriptor.hpp"
#include "cli/options.hpp"
#include "cli/serve/api_json.hpp"
#include "cli/serve/report_page.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

struct report_options {
  table_options where;
  period_options period;
  std::string html;
};

[[noreturn]] void cannot_write(const std::string& path, int reason) {
  throw command_error{exit_code::output_failed,
                      path + " cannot be written: " + std::generic_category().message(reason) +
                          "; name another file with --html, or - for the standard output"};
}

/// A rename would put a file in the place of a device, a pipe or a folder.
void require_file(const std::string& path) {
  if (path.empty()) {
    throw misuse("--html has no name: name a file, or - for the standard output");
  }
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    throw misuse("--html {} is no file: name a file, or write - for the standard output", path);
  }
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto count = write(file, text.data(), text.size());
    if (count == -1 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return fsync(file) == 0;
}

/// Others see the file complete or as it was.
void replace_file(const std::string& path, std::string_view text) {
  constexpr mode_t as_the_umask_says = 0666;
  const auto made = path + ".tmp" + std::to_string(getpid());
  const int opened = open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, as_the_umask_says);
  if (opened == -1) cannot_write(path, errno);
  const file_descriptor file{opened, "open"};
  if (!write_all(opened, text) || rename(made.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(made.c_str());
    cannot_write(path, reason);
  }
}

int report_now(const report_options& options) {
  // A wrong value is said before the database is asked.
  const history_request asked{.limit = longest_history};
  options.period.check_any_time(asked);
  const table_name table{options.where.table};
  const auto url = options.where.database();
  const bool is_for_output = options.html == "-";
  if (!is_for_output) require_file(options.html);
  // A link stays, and leads to the new file.
  const std::string path =
      is_for_output ? "" : std::filesystem::weakly_canonical(options.html).string();

  const auto rows = open_store(url, table);
  const auto now = rows->now();
  const auto locks = rows->list({.limit = largest_page});
  const std::string page =
      report_page(locks_json(locks, now, largest_page - 1),
                  read_history(*rows, options.period.of(asked, now), longest_report));
  if (is_for_output) {
    std::cout << page;  // main() says if it cannot be written
    return exit_code::success;
  }
  replace_file(path, page);
  return exit_code::success;
}

}  // namespace

void add_report(CLI::App& app, action& chosen) {
  const auto [report, options] = add_table_command(
      app, chosen, "report", "Write the page of serve into a file, with all it shows", report_now);
  options->period.add_to(*report);
  add_value(*report, "--html FILE", options->html, "The file, or - for the standard output")
      ->required();
  report->footer(
      R"(One HTML file with the locks that are held now (at most 9,999) and the history since then (at most 200,000
events): it needs no server and no
network, and a browser opens it from a disk or a mail. It contains keys, holders and notes. A file that
exists is replaced, at once and as a whole; after a failure it is as it was. Like serve, it only reads.

Exit code: 74 if the file cannot be written.

Examples:
  rowlock report postgresql://app_reader@db/shop --since 24h --html locks.html
  rowlock report postgresql://app_reader@db/shop --since 2026-01-31T02:00:00Z --until 2026-01-31T04:00:00Z --html night.html
  rowlock report sqlite:///var/lib/shop/locks.db --html - | gzip > locks.html.gz)");
}

}  // namespace rowlock::cli
