// A program that calls exit() from a thread, and whose lock_table is in a static.
//
// rowlock_exiting_program URL TABLE TYPE SOURCE [lease]: takes the key, and calls exit(0).
// Destructors of statics then end the lease and, unless only that is wanted, lock the row in a
// transaction of the application, and say so.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "cli/database_url.hpp"
#include "rowlock/lock_table.hpp"
#include "support/database_application.hpp"
#include "support/soci_application.hpp"

namespace {

using namespace rowlock;
using namespace rowlock::tests;

/// libpqxx 6 destroys a table of its own at exit, which every result needs. A transaction of the
/// application needs it, so it is made first for that.
void use_the_driver(const database_url& url) {
  if (url.which() != database_url::engine::postgresql) return;
  pqxx::connection used{url.target()};
  pqxx::nontransaction{used}.exec("SELECT 1");
}

std::unique_ptr<app_connection> connected(const database_url& url, const std::string& table) {
  switch (url.which()) {
    case database_url::engine::sqlite:
      return connect_to_sqlite(url.target(), table);
    case database_url::engine::soci:
      return connect_through_soci(url.target(), table);
    case database_url::engine::postgresql:
      break;
  }
  return connect_to_postgres(url.target(), table);
}

/// Made before the first call of the library, so that what such a call makes is destroyed before
/// this is, if it is destroyed at all.
class application {
 public:
  explicit application(const std::vector<std::string>& arguments)
      : key_{arguments[2], arguments[3]},
        rows_{open_store(arguments[0], table_name{arguments[1]})} {
    if (arguments.size() == 4) connection_ = connected(arguments[0], arguments[1]);
  }
  application(const application&) = delete;
  application& operator=(const application&) = delete;
  ~application() {
    try {
      std::cout << held_.value().release() << std::endl;
      if (connection_ == nullptr) return;
      const auto locked = connection_->with_row_lock(key_, no_wait(), [](app_transaction& work) {
        work.write_note("at the end");
        return 7;
      });
      std::cout << (locked.acquired() ? "locked" : "refused") << std::endl;
    } catch (const std::exception& thrown) {
      std::cout << thrown.what() << std::endl;
    }
  }

  void take_the_key() { held_ = *locks_.try_acquire(key_); }

 private:
  const lock_key key_;
  const std::unique_ptr<store> rows_;
  std::unique_ptr<app_connection> connection_;
  lock_table locks_{*rows_};
  std::optional<lease> held_;
};

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() != 4 && (arguments.size() != 5 || arguments[4] != "lease")) {
      std::cerr << "usage: rowlock_exiting_program URL TABLE TYPE SOURCE [lease]\n";
      return 64;
    }
    if (arguments.size() == 4) use_the_driver(arguments[0]);
    static application held{arguments};
    held.take_the_key();
    const std::jthread ends{[] { std::exit(0); }};
    for (;;) pause();
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
