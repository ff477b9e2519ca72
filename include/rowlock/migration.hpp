// The table's definition, as numbered steps.
#ifndef ROWLOCK_MIGRATION_HPP
#define ROWLOCK_MIGRATION_HPP

#include <string>
#include <vector>

#include "rowlock/table_name.hpp"

namespace rowlock {

/// One step, as plain SQL that any migration tool can apply. Each up text ends by writing its
/// number into `shared_lock_schema`, each down text takes it back.
struct migration {
  int number = 0;
  std::string name;
  std::string up;
  std::string down;
};

/// All steps, in order, for `table`.
std::vector<migration> postgres_migrations(const table_name& table = {});
std::vector<migration> sqlite_migrations(const table_name& table = {});
std::vector<migration> mysql_migrations(const table_name& table = {});

}  // namespace rowlock

#endif
