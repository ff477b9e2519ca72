// rowlock_sqlite_writer: one of many writers of a SQLite file, which writes again and again.
#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "rowlock/port/requests.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"

namespace {

using namespace rowlock;
using namespace std::chrono_literals;

/// A key of its own, so that nothing but the file can be in the way.
lock_key own_key() { return {.type = "writer", .source_id = std::to_string(getpid())}; }

/// More than a busy machine needs: the test counts whether all are served, not how soon.
constexpr auto longest_wait = 1min;

/// One grant and its release. False when the file could not be had.
std::function<bool()> leases(const std::string& path) {
  return
      [rows = std::make_shared<sqlite_store>(path, sqlite_options{.turn_timeout = longest_wait})] {
        const acquire_request wanted{
            .key = own_key(), .owner = make_owner_id(), .holder = "writer", .ttl = 1h};
        const auto granted = rows->acquire(std::array{wanted}).front();
        if (granted.status != acquire_status::granted) return false;
        const release_request given_back{wanted.key, wanted.owner, *granted.version};
        return rows->release(std::array{given_back}).front() == change_answer::done;
      };
}

/// One row lock.
std::function<bool()> row_locks(const std::string& path) {
  return [database = std::make_shared<SQLite::Database>(path, SQLite::OPEN_READWRITE)] {
    return with_row_lock<sqlite_transaction>(*database, own_key(), wait_for(longest_wait),
                                             [](sqlite_transaction&) {})
        .acquired();
  };
}

void write_all_the_time(const std::function<bool()>& write_once, int times) {
  write_once();  // opens the file
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);

  int refused = 0;
  for (int i = 0; i < times; ++i) {
    if (!write_once()) ++refused;
  }
  std::cout << refused << std::endl;
}

/// Has the file until it is killed.
void keep(const std::string& path) {
  SQLite::Database database{path, SQLite::OPEN_READWRITE};
  const sqlite_transaction kept{database};
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
}

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() == 2 && arguments[1] == "keep") {
      keep(arguments[0]);
      return 0;
    }
    if (arguments.size() != 3) {
      std::cerr << "usage: rowlock_sqlite_writer PATH leases|row-locks TIMES\n"
                   "       rowlock_sqlite_writer PATH keep\n";
      return 64;
    }
    const int times = std::stoi(arguments[2]);
    write_all_the_time(arguments[1] == "leases" ? leases(arguments[0]) : row_locks(arguments[0]),
                       times);
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
