// A MariaDB server of a test's own, to be crashed, or to be started with options.
#ifndef ROWLOCK_TESTS_SUPPORT_OWN_MARIADB_HPP
#define ROWLOCK_TESTS_SUPPORT_OWN_MARIADB_HPP

#include <string>
#include <vector>

#include "support/own_server.hpp"
#include "support/stopped_processes.hpp"

namespace rowlock::tests {

/// A fresh server in a temporary folder, with the database rowlock_test, whose root needs no
/// password. Both are gone with this object. Throws when the server cannot be started.
class own_mariadb {
 public:
  /// `options` are mariadbd's.
  explicit own_mariadb(const std::vector<std::string>& options = {});

  [[nodiscard]] const std::string& url() const noexcept { return server_.url(); }

  /// Kills the server, which is started again and recovers from its log. Returns when it serves.
  void crash() const;

  /// It stands still until the end of what is returned: connections stay open, new ones come about,
  /// and nothing is answered.
  [[nodiscard]] stopped_processes stop() const;

 private:
  own_server server_;
};

}  // namespace rowlock::tests

#endif
