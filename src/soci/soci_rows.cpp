// Locking and reading rows, and optimistic commits, in the application's own transaction.
#include <soci/soci.h>

#include <utility>

#include "rowlock/soci.hpp"
#include "soci/backend.hpp"

namespace rowlock {

namespace {

using through_soci::dialect_of;
using through_soci::isolation;

outcome<row_lock> lock_rows(::soci::session& session, const lock_keys& keys,
                            const retry_policy& wait, const soci_table& table, isolation known) {
  const auto& spoken = dialect_of(session);
  row_lock locked;
  const auto& patience = spoken.can_wait_inside() ? wait : no_wait();
  auto refused = detail::wait_for_rows(patience, [&](std::chrono::milliseconds slice) {
    auto attempt = spoken.try_to_lock(session, keys, slice, table, known);
    if (attempt.locked) locked = *std::move(attempt.locked);
    return attempt.refused;
  });
  if (refused) return *std::move(refused);
  return locked;
}

}  // namespace

outcome<row_lock> lock_rows(soci_transaction& transaction, const lock_keys& keys,
                            const wait_policy& wait, const soci_table& table) {
  return lock_rows(transaction.session(), keys, wait, table, isolation::as_we_began_it);
}

outcome<row_lock> lock_rows(::soci::session& transaction, const lock_keys& keys,
                            const wait_policy& wait, const soci_table& table) {
  return lock_rows(transaction, keys, wait, table, isolation::as_the_session_says);
}

outcome<version> read_version(::soci::session& transaction, const lock_key& key,
                              const soci_table& table) {
  check(key);
  return dialect_of(transaction).read_version(transaction, key, table);
}

commit_result try_commit(::soci::session& transaction, const lock_key& key, version seen,
                         const soci_table& table) {
  check(key);
  return dialect_of(transaction).try_commit(transaction, key, seen, table);
}

commit_result try_commit(::soci::session& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  return dialect_of(transaction).try_commit(transaction, table, id, seen);
}

}  // namespace rowlock
