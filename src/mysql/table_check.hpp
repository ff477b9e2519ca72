// Whether a table of MariaDB or MySQL is one that rowlock's locks can live in.
#ifndef ROWLOCK_MYSQL_TABLE_CHECK_HPP
#define ROWLOCK_MYSQL_TABLE_CHECK_HPP

#include <optional>

#include "mysql/connection.hpp"
#include "mysql/sql/spelling.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::mysql {

/// The number of the last migration that is applied; none if there is no table of them. Throws
/// `error` (rejected) where the lock table was dropped since.
std::optional<int> schema_version(connection& session, detail::rendered_sql& texts,
                                  const table_name& table);

/// Throws `error` (rejected) unless the table's schema is the one of this library, and it is a
/// table whose engine, primary key, and columns with their types and collations are those of the
/// migrations: another engine has no row locks, without the key there may be two rows of one, and
/// another collation takes different keys for one. CHECKs and partitions may be as they like: no
/// promise rests on them. Nor may a temporary table hide it from this session. Three round trips,
/// four where the table's name has no database; as many again before it throws.
void check_table(connection& session, detail::rendered_sql& texts, const table_name& table);

/// The same for a table that may not be there yet.
void check_table_if_there(connection& session, detail::rendered_sql& texts,
                          const table_name& table);

}  // namespace rowlock::mysql

#endif
