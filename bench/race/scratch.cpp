// A place for one measurement, which is gone afterwards.
#include "race/scratch.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "race/connections.hpp"
#include "race/mariadb_connection.hpp"

namespace rowlock::race {

namespace {

std::string named_by(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || *value == '\0') {
    throw std::runtime_error{std::string{variable} + " names no server: run script/bench"};
  }
  return value;
}

std::string server_of(engine on) {
  switch (on) {
    case engine::postgres:
      return named_by("ROWLOCK_TEST_POSTGRES");
    case engine::mariadb:
      return named_by("ROWLOCK_TEST_MARIADB");
    case engine::redis:
      return named_by("ROWLOCK_BENCH_REDIS");
    case engine::memcached:
      return named_by("ROWLOCK_BENCH_MEMCACHED");
    case engine::sqlite:
      break;
  }
  return {};
}

std::string new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "rowlock-race.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error{errno, std::generic_category(), "cannot create " + name};
  }
  return name;
}

}  // namespace

scratch::scratch(engine on, const plan& does)
    : on_{on},
      where_{.server = server_of(on),
             .schema = on == engine::sqlite ? new_folder() : "race_" + std::to_string(getpid()),
             .connections = does.connections == 0 ? does.threads : does.connections,
             .keys = does.processes * does.threads * does.batch,
             .batch = does.batch,
             .rows = does.rows} {
  if (on_ == engine::postgres) execute(where_, "CREATE SCHEMA " + where_.schema);
  if (on_ == engine::mariadb)
    mariadb_connection{where_.server}.execute("CREATE DATABASE " + where_.schema);
}

scratch::~scratch() {
  try {
    if (on_ == engine::postgres) {
      execute(where_,
              "SET LOCAL client_min_messages = warning; DROP SCHEMA " + where_.schema + " CASCADE");
    }
    if (on_ == engine::mariadb)
      mariadb_connection{where_.server}.execute("DROP DATABASE " + where_.schema);
    if (on_ == engine::sqlite) std::filesystem::remove_all(where_.schema);
  } catch (const std::exception& problem) {
    std::cerr << "cannot drop " << where_.schema << ": " << problem.what() << '\n';
  }
}

}  // namespace rowlock::race
