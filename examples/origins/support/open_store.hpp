// The store of an example program.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_OPEN_STORE_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_OPEN_STORE_HPP

#include <memory>
#include <string>

#include "rowlock/postgres_store.hpp"
#include "rowlock/sqlite_store.hpp"

namespace origins {

/// On the PostgreSQL server that the program's argument names, or else on a SQLite file in this
/// folder. The lock table is created.
inline std::unique_ptr<rowlock::store> open_store(int arguments, char** argument,
                                                  const std::string& file) {
  if (arguments > 1) {
    const std::string url{argument[1]};
    rowlock::migrate_postgres(url);
    return std::make_unique<rowlock::postgres_store>(url);
  }
  rowlock::migrate_sqlite(file);
  return std::make_unique<rowlock::sqlite_store>(file);
}

}  // namespace origins

#endif
