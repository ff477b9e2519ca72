// Every statement that the library runs on SQLite.
#ifndef ROWLOCK_SQL_SQLITE_STATEMENTS_HPP
#define ROWLOCK_SQL_SQLITE_STATEMENTS_HPP

#include <string_view>

namespace rowlock::sql::sqlite {

// On the lock table, with its plain name: `table_name::in` puts in the real one.

extern const std::string_view read_row;
extern const std::string_view list_owned_rows;
extern const std::string_view acquire_row;
extern const std::string_view acquire_row_at_version;
extern const std::string_view renew_row;
extern const std::string_view release_row;
extern const std::string_view prepare_row;
extern const std::string_view lock_row;
extern const std::string_view commit_version;
extern const std::string_view count_failure;
extern const std::string_view become_writer;
extern const std::string_view last_migration;
extern const std::string_view look_for_table;
extern const std::string_view drop_companions;

// On the connection.

extern const std::string_view begin_immediate;
extern const std::string_view commit;
extern const std::string_view rollback;
extern const std::string_view journal_in_wal;
extern const std::string_view sync_every_commit;
extern const std::string_view get_busy_timeout;
extern const std::string_view set_savepoint;
extern const std::string_view undo_savepoint;
extern const std::string_view release_savepoint;

}  // namespace rowlock::sql::sqlite

#endif
