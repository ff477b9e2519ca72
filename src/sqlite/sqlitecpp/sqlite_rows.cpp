// Locks and versions inside a transaction of the application.
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/transaction.hpp"

namespace rowlock {

using detail::on_lock_table;

outcome<row_lock> lock_rows(SQLite::Database& transaction, const lock_keys& keys,
                            const wait_policy& /*wait*/, const table_name& table) {
  detail::recognise_sqlite_conflicts();
  return on_lock_table(transaction, table,
                       [&] { return on_sqlite::lock_rows(transaction.getHandle(), keys, table); });
}

outcome<version> read_version(SQLite::Database& transaction, const lock_key& key,
                              const table_name& table) {
  detail::recognise_sqlite_conflicts();
  return on_lock_table(transaction, table, [&] {
    return on_sqlite::read_version(transaction.getHandle(), key, table);
  });
}

commit_result try_commit(SQLite::Database& transaction, const lock_key& key, version seen,
                         const table_name& table) {
  detail::recognise_sqlite_conflicts();
  return on_lock_table(transaction, table, [&] {
    return on_sqlite::try_commit(transaction.getHandle(), key, seen, table);
  });
}

commit_result try_commit(SQLite::Database& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  detail::recognise_sqlite_conflicts();
  try {
    return on_sqlite::try_commit(transaction.getHandle(), table, id, seen);
  } catch (const on_sqlite::failure& failed) {
    detail::throw_as_error(failed, detail::url_of(transaction), on_sqlite::compare_the_names);
  }
}

}  // namespace rowlock
