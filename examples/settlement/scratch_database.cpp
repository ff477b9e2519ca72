// Creates and removes what a run leaves in a database.
#include "scratch_database.hpp"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <pqxx/pqxx>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace settlement {
namespace {

namespace fs = std::filesystem;

fs::path make_folder() {
  std::string name = (fs::temp_directory_path() / "rowlock-settlement.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error{errno, std::generic_category(), "cannot create " + name};
  }
  return name;
}

std::string random_schema() {
  std::random_device random;
  std::ostringstream name;
  name << "rowlock_settlement_" << std::hex << random();
  return name.str();
}

void execute(const std::string& connection_string, const std::string& sql) {
  try {
    pqxx::connection connection{connection_string};
    pqxx::work work{connection};
    work.exec(sql);
    work.commit();
  } catch (const pqxx::broken_connection&) {
    // Its own message may hold a part of the password.
    throw std::runtime_error{"no connection to the server of --url; `psql URL` shows why"};
  }
}

}  // namespace

scratch_database::scratch_database(const std::string& url, bool keep)
    : own_folder_{url.empty() ? make_folder() : fs::path{}},
      url_{url.empty() ? "sqlite://" + (own_folder_ / "settlement.db").string() : url},
      keep_{keep} {
  if (is_sqlite()) {
    if (fs::exists(url_.target())) {
      throw std::runtime_error{url_.target() + " exists already: name a new file"};
    }
  } else {
    schema_ = random_schema();
    locks_ = rowlock::table_name{schema_ + ".shared_lock"};
    execute(url_.target(), "CREATE SCHEMA " + schema_);
  }
  try {
    rowlock::migrate(url_, locks_);
  } catch (...) {
    remove();
    throw;
  }
}

scratch_database::~scratch_database() {
  if (keep_) {
    std::cout << "kept: " << description() << std::endl;
  } else {
    remove();
  }
}

std::unique_ptr<ledger> scratch_database::open_ledger() const {
  return is_sqlite() ? open_sqlite_ledger(url_.target())
                     : open_postgres_ledger(url_.target(), schema_);
}

std::unique_ptr<rowlock::store> scratch_database::open_store() const {
  return rowlock::open_store(url_, locks_);
}

std::string scratch_database::description() const {
  return is_sqlite() ? "SQLite, " + url_.target() : "PostgreSQL, schema " + schema_;
}

void scratch_database::remove() const {
  try {
    if (!is_sqlite()) {
      execute(url_.target(),
              "SET client_min_messages = warning; DROP SCHEMA " + schema_ + " CASCADE");
    } else if (!own_folder_.empty()) {
      fs::remove_all(own_folder_);
    } else {
      for (const auto* suffix : {"", "-wal", "-shm", "-rowlock"})
        fs::remove(url_.target() + suffix);
    }
  } catch (const std::exception& problem) {
    std::cerr << "cannot remove " << description() << ": " << problem.what() << std::endl;
  }
}

}  // namespace settlement
