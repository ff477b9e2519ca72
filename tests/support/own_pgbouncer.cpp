// A PgBouncer in front of a server of the test's own.
#include "support/own_pgbouncer.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace rowlock::tests {

namespace {

constexpr int port = 6432;  // only part of the socket's name

}  // namespace

own_pgbouncer::own_pgbouncer(const postgres_cluster& server, int connections)
    : process_{folder_.in_it({ROWLOCK_PGBOUNCER, "-q", configure(server, connections)})} {
  const auto socket = folder_.path() / (".s.PGSQL." + std::to_string(port));
  await_that([&] { return std::filesystem::exists(socket); }, {},
             [&] { return "pgbouncer listens: " + process_.errors(); });
}

std::string own_pgbouncer::url() const {
  return "postgresql://tester@/postgres?host=" + folder_.path().string() +
         "&port=" + std::to_string(port);
}

std::string own_pgbouncer::configure(const postgres_cluster& server, int connections) const {
  const auto file = folder_.path() / "pgbouncer.ini";
  std::ofstream{file} << "[databases]\n"
                      << "postgres = host=" << server.host() << " user=tester\n"
                      << "[pgbouncer]\n"
                      << "pool_mode = transaction\n"
                      << "default_pool_size = " << connections << '\n'
                      << "max_client_conn = 200\n"
                      << "auth_type = any\n"
                      << "listen_addr =\n"
                      << "listen_port = " << port << '\n'
                      << "unix_socket_dir = " << folder_.path().string() << '\n';
  return file;
}

}  // namespace rowlock::tests
