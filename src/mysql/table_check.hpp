// The check whether a MariaDB or MySQL table is fit for locks.
#ifndef ROWLOCK_MYSQL_TABLE_CHECK_HPP
#define ROWLOCK_MYSQL_TABLE_CHECK_HPP

#include <optional>

#include "mysql/connection.hpp"
#include "mysql/sql/spelling.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::mysql {

/// The number of the last applied migration; none if there is no table of migrations. Throws
/// `error` (rejected) if the lock table was dropped since.
std::optional<int> schema_version(connection& session, detail::rendered_sql& texts,
                                  const table_name& table);

/// Throws `error` (rejected) unless the table has this library's schema version. The engine, the
/// primary key and the columns on which mutual exclusion depends, with types and collations, must
/// also be those of the migrations, and the other columns must be there.
/// Another engine has no row locks. Without the key a lock key may have two rows. Another collation
/// takes different keys for one.
///
/// CHECKs and partitions may differ: no guarantee rests on them. A temporary table must not hide
/// the table from this session. Three round trips, four if the table's name has no database; as
/// many again before it throws.
void check_table(connection& session, detail::rendered_sql& texts, const table_name& table);

/// The same for a table that may not exist yet. `number` is that of its last migration.
void check_table_if_there(connection& session, detail::rendered_sql& texts,
                          std::optional<int> number, const table_name& table);

}  // namespace rowlock::mysql

#endif
