// A PgBouncer in front of a server of the test's own.
#ifndef ROWLOCK_TESTS_SUPPORT_OWN_PGBOUNCER_HPP
#define ROWLOCK_TESTS_SUPPORT_OWN_PGBOUNCER_HPP

#include <string>

#include "support/child_process.hpp"
#include "support/postgres_cluster.hpp"
#include "support/self_signed.hpp"
#include "support/server_user.hpp"

namespace rowlock::tests {

/// In transaction mode: each transaction gets one of a few connections to the server, whichever is
/// free. It listens on a socket in a temporary folder, or with a certificate on a port, where it
/// demands TLS. It is gone after the test.
class own_pgbouncer {
 public:
  /// Serves clients when this returns.
  own_pgbouncer(const postgres_cluster& server, int connections,
                const self_signed* certificate = nullptr);

  [[nodiscard]] std::string url() const;

 private:
  /// Writes the configuration, whose name is the answer.
  [[nodiscard]] std::string configure(const postgres_cluster& server, int connections) const;

  const self_signed* certificate_;
  int port_;
  server_folder folder_;
  child_process process_;
};

}  // namespace rowlock::tests

#endif
