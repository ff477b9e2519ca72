// Files with a secret, which only their owner may use.
#ifndef ROWLOCK_CLI_PRIVATE_FILE_HPP
#define ROWLOCK_CLI_PRIVATE_FILE_HPP

#include <string>
#include <string_view>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

/// The first line of the file, the value of `option`, without spaces at its end. Throws `error`
/// (misuse) if it is empty, or if users other than the owner may read the file. `content` is the
/// message's word for the line: `URL`.
std::string private_line_of(std::string_view option, const std::string& path,
                            std::string_view content);

/// A file that appears with its whole content or not at all. Readers never see a part.
class private_file {
 public:
  /// Makes a temporary file beside `path`. Throws `error` (misuse) if that cannot be done.
  private_file(std::string_view option, std::string path);
  private_file(const private_file&) = delete;
  private_file& operator=(const private_file&) = delete;
  ~private_file();

  /// Replaces the file. Throws `command_error`.
  void write(std::string_view line);

 private:
  const std::string path_;
  std::string temporary_;
  file_descriptor file_;
  bool is_written_ = false;
};

}  // namespace rowlock::cli

#endif
