// What a store asks SQLite.
#ifndef ROWLOCK_SQLITE_SQL_STATEMENTS_HPP
#define ROWLOCK_SQLITE_SQL_STATEMENTS_HPP

#include <string_view>

namespace rowlock::sql::sqlite {

// On the lock table, with its plain name: `table_name::in` puts in the real one.

extern const std::string_view read_row;
extern const std::string_view list_taken_rows;
extern const std::string_view acquire_row;
extern const std::string_view acquire_row_at_version;
extern const std::string_view renew_row;
extern const std::string_view release_row;
extern const std::string_view write_note;
extern const std::string_view prepare_row;
extern const std::string_view force_release_row;
extern const std::string_view look_for_idle_rows;
extern const std::string_view delete_idle_row;
extern const std::string_view last_migration;
extern const std::string_view look_for_table;
extern const std::string_view drop_companions;

// About a table whose name is a parameter.

extern const std::string_view kind_of_table;
extern const std::string_view primary_key_of_table;
extern const std::string_view columns_of_table;

}  // namespace rowlock::sql::sqlite

#endif
