// The user and the folder of a server, which refuses to run as root.
#ifndef ROWLOCK_TESTS_SUPPORT_SERVER_USER_HPP
#define ROWLOCK_TESTS_SUPPORT_SERVER_USER_HPP

#include <filesystem>
#include <string>
#include <vector>

#include "support/temp_folder.hpp"

namespace rowlock::tests {

/// A temporary folder that a server can use.
class server_folder {
 public:
  server_folder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_.path(); }

  /// `command` in this folder, as the server's user if we are root. It gets the signal when the
  /// thread that starts it ends.
  [[nodiscard]] std::vector<std::string> in_it(const std::vector<std::string>& command,
                                               const std::string& signal_at_our_end = "QUIT") const;

 private:
  temp_folder folder_;
};

/// Runs a command to its end. Throws with what it said when it fails.
void run_to_the_end(const std::vector<std::string>& command);

}  // namespace rowlock::tests

#endif
