// A PgBouncer in front of a server of the test's own.
#include "support/own_pgbouncer.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "support/free_ports.hpp"

namespace rowlock::tests {

own_pgbouncer::own_pgbouncer(const postgres_cluster& server, int connections,
                             const self_signed* certificate)
    : certificate_{certificate},
      port_{certificate == nullptr ? 6432 : free_ports(1).front()},  // part of the socket's name
      process_{folder_.in_it({ROWLOCK_PGBOUNCER, "-q", configure(server, connections)})} {
  const auto socket = folder_.path() / (".s.PGSQL." + std::to_string(port_));
  await_that([&] { return std::filesystem::exists(socket); }, {},
             [&] { return "pgbouncer listens: " + process_.errors(); });
}

std::string own_pgbouncer::url() const {
  const auto port = std::to_string(port_);
  if (certificate_ != nullptr) {
    return "postgresql://tester@127.0.0.1:" + port + "/postgres?sslmode=require";
  }
  return "postgresql://tester@/postgres?host=" + folder_.path().string() + "&port=" + port;
}

std::string own_pgbouncer::configure(const postgres_cluster& server, int connections) const {
  const auto file = folder_.path() / "pgbouncer.ini";
  std::ofstream text{file};
  text << "[databases]\n"
       << "postgres = host=" << server.host() << " user=tester\n"
       << "[pgbouncer]\n"
       << "pool_mode = transaction\n"
       << "default_pool_size = " << connections << '\n'
       << "max_client_conn = 200\n"
       << "auth_type = any\n"
       << "listen_port = " << port_ << '\n'
       << "unix_socket_dir = " << folder_.path().string() << '\n';
  if (certificate_ == nullptr) return file;
  text << "listen_addr = 127.0.0.1\n"
       << "client_tls_sslmode = require\n"
       << "client_tls_cert_file = " << certificate_->certificate() << '\n'
       << "client_tls_key_file = " << certificate_->key() << '\n'
       << "pkt_buf = 65536\n";
  return file;
}

}  // namespace rowlock::tests
