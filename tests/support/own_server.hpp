// A server that a script of script/support runs for a test, and starts again when it is crashed.
#ifndef ROWLOCK_TESTS_SUPPORT_OWN_SERVER_HPP
#define ROWLOCK_TESTS_SUPPORT_OWN_SERVER_HPP

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace rowlock::tests {

/// Gone, with its folder, when this object is.
class own_server {
 public:
  /// `script run --restart options...`, which names the server in the environment as `variable`.
  /// Throws when it cannot be started.
  own_server(const std::string& script, const std::vector<std::string>& options,
             const std::string& variable);
  own_server(const own_server&) = delete;
  own_server& operator=(const own_server&) = delete;
  ~own_server();

  [[nodiscard]] const std::string& url() const noexcept { return url_; }

  /// Sends the signal to what `process` finds; it is to find none (0) while the server does not
  /// serve. Returns when another one serves.
  void crash(int signal, const std::function<pid_t()>& process) const;

 private:
  child_process supervisor_;
  std::string url_;
};

}  // namespace rowlock::tests

#endif
