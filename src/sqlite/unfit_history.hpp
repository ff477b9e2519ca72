// The end of a history whose table its triggers cannot write.
#ifndef ROWLOCK_SQLITE_UNFIT_HISTORY_HPP
#define ROWLOCK_SQLITE_UNFIT_HISTORY_HPP

#include "rowlock/table_name.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// SQLite executes no change of the lock table while the table of its events is missing or lacks a
/// column. Drops the triggers then, and only then. In an open transaction the drop is a part of
/// that. Throws `failure`, also while another connection is writing.
void end_unfit_history(sqlite3* database, const table_name& table);

}  // namespace rowlock::sqlite

#endif
