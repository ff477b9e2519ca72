// Migration files, compiled into the library.
#ifndef ROWLOCK_STORE_EMBEDDED_MIGRATIONS_HPP
#define ROWLOCK_STORE_EMBEDDED_MIGRATIONS_HPP

#include <span>
#include <string_view>

namespace rowlock::detail {

/// One migration of one database: the files NNN_name.up.sql, .down.sql and .verify.sql.
struct embedded_migration {
  int number;
  std::string_view name;
  std::string_view up;
  std::string_view down;
  std::string_view verify;
};

/// Ordered by number, from 1 without gaps. The texts live as long as the program.
std::span<const embedded_migration> embedded_postgres_migrations();
std::span<const embedded_migration> embedded_sqlite_migrations();
std::span<const embedded_migration> embedded_mysql_migrations();

/// The optional history: number 0.
const embedded_migration& embedded_postgres_history();
const embedded_migration& embedded_sqlite_history();
const embedded_migration& embedded_mysql_history();

}  // namespace rowlock::detail

#endif
