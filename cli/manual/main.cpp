// Writes the man pages into a folder, while rowlock is built.
#include <fmt/chrono.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/manual/man_page.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  if (!(std::ofstream{file} << text << std::flush)) {
    throw std::runtime_error{file.string() + " cannot be written"};
  }
}

/// That of SOURCE_DATE_EPOCH; none without it, so that two builds are equal.
std::string date_of_source() {
  const char* const given = std::getenv("SOURCE_DATE_EPOCH");  // NOLINT(concurrency-mt-unsafe)
  if (given == nullptr) return {};
  try {
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(whole_number<std::time_t>(given).value()));
  } catch (const std::exception&) {
    throw std::runtime_error{"SOURCE_DATE_EPOCH is no number of seconds since 1970"};
  }
}

void write_manual(const std::filesystem::path& folder) {
  const std::vector<std::string> command;
  action chosen;
  const auto tree = command_tree(command, chosen);
  const auto date = date_of_source();
  const auto write_page = [&](const CLI::App& described) {
    write(folder / "man1" / (page_name_of(described) + ".1"), man_page_of(described, date));
  };
  write_page(*tree);
  for (const auto* subcommand : subcommands_of(*tree)) write_page(*subcommand);
}

}  // namespace

}  // namespace rowlock::cli

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error{"usage: rowlock_manual FOLDER"};
  rowlock::cli::write_manual(argv[1]);
  return EXIT_SUCCESS;
} catch (const std::exception& fault) {
  std::cerr << "rowlock_manual: " << fault.what() << '\n';
  return EXIT_FAILURE;
}
