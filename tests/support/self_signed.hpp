// A certificate that signs itself.
#ifndef ROWLOCK_TESTS_SUPPORT_SELF_SIGNED_HPP
#define ROWLOCK_TESTS_SUPPORT_SELF_SIGNED_HPP

#include <string>

#include "support/server_user.hpp"

namespace rowlock::tests {

/// With its key, in a folder of the server's user; for this machine, or for one of another name.
class self_signed {
 public:
  explicit self_signed(const std::string& names = "DNS:localhost,IP:127.0.0.1");

  [[nodiscard]] std::string key() const { return folder_.path() / "key.pem"; }
  [[nodiscard]] std::string certificate() const { return folder_.path() / "certificate.pem"; }

 private:
  server_folder folder_;
};

}  // namespace rowlock::tests

#endif
