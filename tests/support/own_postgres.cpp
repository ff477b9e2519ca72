// A PostgreSQL server of a test's own, to be crashed.
#include "support/own_postgres.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <pqxx/pqxx>
#include <stdexcept>
#include <thread>

namespace rowlock::tests {

namespace {

/// The server's first process: it is there from one start to the next.
pid_t postmaster(const std::string& url) {
  pqxx::connection connection{url};
  pqxx::nontransaction asking{connection};
  return asking.exec("select split_part(pg_read_file('postmaster.pid'), e'\n', 1)")[0][0]
      .as<pid_t>();
}

/// None while it does not serve.
pid_t postmaster_if_up(const std::string& url) {
  try {
    return postmaster(url);
  } catch (const pqxx::failure&) {
    return 0;
  }
}

}  // namespace

// The command that the server is there for says where it is, and lasts as long as its input.
own_postgres::own_postgres()
    : supervisor_{{ROWLOCK_THROWAWAY_POSTGRES, "run", "--restart", "--", "sh", "-c",
                   "echo \"$ROWLOCK_TEST_POSTGRES\"; exec cat"}} {
  const auto told = supervisor_.read_line();
  if (!told) throw std::runtime_error{"no server of our own: " + supervisor_.errors()};
  url_ = *told;
}

own_postgres::~own_postgres() {
  try {
    supervisor_.close_input();
    supervisor_.wait();
  } catch (const std::exception& thrown) {
    std::cerr << "a server stays behind: " << thrown.what() << '\n';
  }
}

void own_postgres::crash() const {
  const auto crashed = postmaster(url_);
  if (kill(crashed, SIGQUIT) != 0) throw std::runtime_error{"the server cannot be crashed"};
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto now = postmaster_if_up(url_);
    if (now != 0 && now != crashed) return;
    if (std::chrono::steady_clock::now() > until) {
      throw std::runtime_error{"the server does not come back: " + supervisor_.errors()};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

}  // namespace rowlock::tests
