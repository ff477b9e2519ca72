// A folder that is created with its files, all of them or none.
#ifndef ROWLOCK_CLI_NEW_FOLDER_HPP
#define ROWLOCK_CLI_NEW_FOLDER_HPP

#include <string>
#include <vector>

namespace rowlock::cli {

struct text_file {
  /// Within the folder; may name folders of its own.
  std::string path;
  std::string text;
};

/// Creates `folder` with `files`. Its parent has to exist.
///
/// Throws `error` (misuse) if there is something of this name already, which is left as it is, and
/// `command_error` (74) when the folder cannot be written; then none of the files is there.
void write_new_folder(const std::string& folder, const std::vector<text_file>& files);

}  // namespace rowlock::cli

#endif
