// A PostgreSQL server of a test's own, to be crashed.
#ifndef ROWLOCK_TESTS_SUPPORT_OWN_POSTGRES_HPP
#define ROWLOCK_TESTS_SUPPORT_OWN_POSTGRES_HPP

#include <string>

#include "support/own_server.hpp"
#include "support/stopped_processes.hpp"

namespace rowlock::tests {

/// A fresh server in a temporary folder, with the superuser tester and the database rowlock_test.
/// Both are gone with this object. Throws when the server cannot be started.
class own_postgres {
 public:
  own_postgres();

  [[nodiscard]] const std::string& url() const noexcept { return server_.url(); }

  /// As `pg_ctl stop -m immediate` and then `start`: all backends end at once, nothing is written
  /// any more, and the server recovers from its log. Returns when it serves again.
  void crash() const;

  /// All of its processes stand still until the end of what is returned: connections stay open, new
  /// ones come about, and nothing is answered.
  [[nodiscard]] stopped_processes stop() const;

 private:
  own_server server_;
};

}  // namespace rowlock::tests

#endif
