// The text of the files under migrations/, compiled in.
#ifndef ROWLOCK_STORE_EMBEDDED_MIGRATIONS_HPP
#define ROWLOCK_STORE_EMBEDDED_MIGRATIONS_HPP

#include <span>
#include <string_view>

namespace rowlock::detail {

/// One migration of one database: the file NNN_name, up and down.
struct embedded_migration {
  int number;
  std::string_view name;
  std::string_view up;
  std::string_view down;
};

/// In order, numbered from 1 without gaps. The text lives as long as the program.
std::span<const embedded_migration> embedded_postgres_migrations();
std::span<const embedded_migration> embedded_sqlite_migrations();
std::span<const embedded_migration> embedded_mysql_migrations();

}  // namespace rowlock::detail

#endif
