// A place for one measurement, which is gone afterwards.
#include "race/scratch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <system_error>

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

void execute_on_postgres(const place& where, const std::string& sql) {
  pqxx::connection connection{where.server};
  pqxx::work work{connection};
  work.exec(sql);
  work.commit();
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
  if (on_ == engine::postgres) execute_on_postgres(where_, "CREATE SCHEMA " + where_.schema);
  if (on_ == engine::mariadb) execute_on_mariadb(where_.server, "CREATE DATABASE " + where_.schema);
}

scratch::~scratch() {
  try {
    if (on_ == engine::postgres) {
      execute_on_postgres(where_, "SET LOCAL client_min_messages = warning; DROP SCHEMA " +
                                      where_.schema + " CASCADE");
    }
    if (on_ == engine::mariadb) execute_on_mariadb(where_.server, "DROP DATABASE " + where_.schema);
    if (on_ == engine::sqlite) std::filesystem::remove_all(where_.schema);
  } catch (const std::exception& problem) {
    std::cerr << "cannot drop " << where_.schema << ": " << problem.what() << '\n';
  }
}

}  // namespace rowlock::race
