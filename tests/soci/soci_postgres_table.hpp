// A lock table on the test server, used through SOCI.
#ifndef ROWLOCK_TESTS_SOCI_SOCI_POSTGRES_TABLE_HPP
#define ROWLOCK_TESTS_SOCI_SOCI_POSTGRES_TABLE_HPP

#include <soci/soci.h>

#include "postgres/postgres_table.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/soci_store.hpp"
#include "support/soci_postgres.hpp"

namespace rowlock::tests {

/// Of a store that is to wait until a test has seen that it waits.
inline soci_options long_waits_of_soci() {
  return {.statement_timeout = 5min, .lock_timeout = 5min, .answer_timeout = 6min};
}

class soci_postgres_table : public postgres_table {
 protected:
  [[nodiscard]] soci_store open_store(const std::string& url = soci_url()) const {
    return soci_store{url, {.table = table()}};
  }

  /// Ends the server's side of a session of the application; returns when it is gone.
  void terminate(soci::session& session) {
    int process = 0;
    session << "select pg_backend_pid()", soci::into(process);
    server_.query("select pg_terminate_backend(" + std::to_string(process) + ", 10000)");
  }

  /// The table takes no row with an owner any more. `42`: the server's sentence shows the value.
  void refuse_owners() {
    server_.query("alter table " + name() + " add check (owner is null or owner::bigint > 42)");
  }

  static void expect_unsaid(const caught_error& caught, const std::string& secret) {
    for (const auto& message : caught.messages) {
      EXPECT_EQ(message.find(secret), std::string::npos) << message;
    }
  }
};

}  // namespace rowlock::tests

#endif
