// What rowlock asks SQLite in a transaction, and about one.
#ifndef ROWLOCK_SQLITE_SQL_TRANSACTION_STATEMENTS_HPP
#define ROWLOCK_SQLITE_SQL_TRANSACTION_STATEMENTS_HPP

#include <string_view>

namespace rowlock::sql::sqlite {

// On the lock table, with its plain name: `table_name::in` puts in the real one.

extern const std::string_view lock_row;
extern const std::string_view commit_version;
extern const std::string_view count_failure;
extern const std::string_view become_writer;

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
