// A MariaDB server of a test's own, to be crashed, or to be started with options.
#include "support/own_mariadb.hpp"

#include <sys/types.h>

#include <csignal>
#include <fstream>

#include "support/mariadb_line.hpp"

namespace rowlock::tests {

namespace {

/// None while it does not serve.
pid_t server_process(const std::string& url) {
  try {
    std::ifstream file{mariadb_line{url}.value("select @@pid_file")};
    pid_t found = 0;
    return file >> found ? found : 0;
  } catch (const mariadb_error&) {
    return 0;
  }
}

std::vector<std::string> of_the_script(const std::vector<std::string>& options) {
  std::vector<std::string> all;
  for (const auto& option : options) all.insert(all.end(), {"--option", option});
  return all;
}

}  // namespace

own_mariadb::own_mariadb(const std::vector<std::string>& options)
    : server_{ROWLOCK_THROWAWAY_MARIADB, of_the_script(options), "ROWLOCK_TEST_MARIADB"} {}

void own_mariadb::crash() const {
  server_.crash(SIGKILL, [this] { return server_process(url()); });
}

stopped_processes own_mariadb::stop() const { return stopped_processes{server_process(url())}; }

}  // namespace rowlock::tests
