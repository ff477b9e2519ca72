// A PostgreSQL server of a test's own, to be crashed.
#include "support/own_postgres.hpp"

#include <csignal>
#include <pqxx/pqxx>

namespace rowlock::tests {

namespace {

/// The server's first process, which is there from one start to the next; none while it does not
/// serve.
pid_t postmaster(const std::string& url) {
  try {
    pqxx::connection connection{url};
    pqxx::nontransaction reader{connection};
    return reader.exec("select split_part(pg_read_file('postmaster.pid'), e'\n', 1)")[0][0]
        .as<pid_t>();
  } catch (const pqxx::failure&) {
    return 0;
  }
}

}  // namespace

own_postgres::own_postgres() : server_{ROWLOCK_THROWAWAY_POSTGRES, {}, "ROWLOCK_TEST_POSTGRES"} {}

void own_postgres::crash() const {
  server_.crash(SIGQUIT, [this] { return postmaster(url()); });
}

stopped_processes own_postgres::stop() const { return stopped_processes{postmaster(url())}; }

}  // namespace rowlock::tests
