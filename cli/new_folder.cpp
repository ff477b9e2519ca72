// A folder that is created with its files, all of them or none.
#include "cli/new_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/command_path.hpp"
#include "cli/exit_codes.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

[[noreturn]] void cannot_write(const std::string& folder, const std::error_code& why) {
  throw command_error{exit_code::output_failed,
                      "--output " + folder + " cannot be written: " + why.message() +
                          "; name a folder whose parent exists and may be written"};
}

[[noreturn]] void is_there_already(const std::string& folder) {
  throw error{errc::misuse, "--output " + folder +
                                " exists already, and nothing in it is overwritten: name a folder "
                                "that does not exist"};
}

/// A folder beside the one to be created, so that a rename can move the files. Gone in the end.
class staging_folder {
 public:
  explicit staging_folder(const std::filesystem::path& target)
      : path_{target.string() + ".XXXXXX"} {
    if (mkdtemp(path_.data()) == nullptr) {
      cannot_write(target.string(), {errno, std::generic_category()});
    }
  }
  staging_folder(const staging_folder&) = delete;
  staging_folder& operator=(const staging_folder&) = delete;
  ~staging_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out{file, std::ios::binary};
  out << text;
  out.close();
  if (!out) {
    throw std::filesystem::filesystem_error{"write", file, {errno, std::generic_category()}};
  }
}

}  // namespace

void write_new_folder(const std::string& folder, const std::vector<text_file>& files) {
  if (folder.empty()) throw error{errc::misuse, "--output has no name: name a new folder"};
  auto target = std::filesystem::path{folder}.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // ended in a slash
  try {
    if (std::filesystem::exists(std::filesystem::symlink_status(target))) is_there_already(folder);
    const staging_folder staging{target};
    // Of the process's umask, which mkdtemp does not obey.
    const auto staged = staging.path() / "files";
    std::filesystem::create_directory(staged);
    for (const auto& each : files) write_file(staged / each.path, each.text);
    std::filesystem::rename(staged, target);
  } catch (const std::filesystem::filesystem_error& fault) {
    cannot_write(folder, fault.code());
  }
}

}  // namespace rowlock::cli
