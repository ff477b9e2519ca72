// Row locks in a transaction on MariaDB or MySQL.
#include <exception>
#include <utility>

#include "mysql/errors.hpp"
#include "mysql/sql/transactions.hpp"
#include "mysql/transaction.hpp"
#include "rowlock/error.hpp"

namespace rowlock::mysql {

namespace {

void check_settings(const transaction_view& seen, const soci_table& table,
                    through_soci::isolation known) {
  if (known == through_soci::isolation::as_the_session_says && !seen.is_read_committed) {
    throw error{errc::misuse,
                "above READ COMMITTED a refused row would stay locked until the transaction ends, "
                "and its holder could neither renew nor release it: begin with "
                "rowlock::soci_transaction, or SET SESSION TRANSACTION ISOLATION LEVEL READ "
                "COMMITTED before the transaction"};
  }
  if (seen.is_in_cluster && !table.one_writer_node) throw_local_locks();
}

/// One call of `lock_rows`, in the caller's transaction.
class locking {
 public:
  locking(caller_transaction& caller, const lock_keys& keys, const soci_table& table)
      : caller_{caller}, table_{table}, keys_{list_of(keys.in_order())} {}

  through_soci::lock_attempt run(through_soci::isolation known, detail::missing_rows missing) {
    const auto seen = caller_.read_with_settings(keys_);
    if (!seen) return {.refused = busy_at(*keys_.front())};
    check_settings(*seen, table_, known);
    skew_ = skew_of(*seen, table_);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto& row = seen->rows[i];
      if (row && !row->can_be_taken(skew_)) return {.refused = held_by(*row)};
      if (!row && missing == detail::missing_rows::report) return {};
    }
    row_lock locked;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto version = lock(*keys_[i], seen->rows[i]);
      if (!version) return {.refused = why_not(*keys_[i])};
      locked.rows.push_back({*keys_[i], *version});
    }
    return {.locked = std::move(locked)};
  }

 private:
  /// A statement for each row: one that joins several keeps the last row locked that it refuses.
  std::optional<version> lock(const lock_key& key, const std::optional<seen_row>& seen) {
    const auto type = bound_value::ascii(key.type);
    const auto id = bound_value::bytes(key.source_id);
    const auto result = seen ? caller_.write(sql::lock_row, {key, seen->state.version, skew_},
                                             {type, id, skew_.count()})
                             : caller_.at_once(sql::lock_missing_row, {type, id});
    if (!result || result->affected == 0) return std::nullopt;
    return caller_.version_in(*result, key);
  }

  /// A lease that was granted meanwhile, or the row lock of another transaction. This transaction
  /// has not written that row.
  refusal why_not(const lock_key& key) {
    const auto now = caller_.read({&key});
    const auto row = now ? now->front() : std::nullopt;
    return row && !row->can_be_taken(skew_) ? held_by(*row) : busy_at(key);
  }

  caller_transaction& caller_;
  const soci_table& table_;
  key_list keys_;
  std::chrono::microseconds skew_{};
};

/// Creates missing rows in separate transactions. A row that another transaction creates at this
/// moment exists afterwards as well.
void create_rows(::soci::session& session, const lock_keys& keys, const soci_table& table) {
  caller_transaction caller{session, table.table};
  const auto wanted = list_of(keys.in_order());
  const auto seen = caller.read(wanted);
  for (std::size_t i = 0; seen && i < wanted.size(); ++i) {
    if ((*seen)[i]) continue;
    caller.unless_contended(sql::insert_in_transaction, {bound_value::ascii(wanted[i]->type),
                                                         bound_value::bytes(wanted[i]->source_id)});
  }
  // For a session that is not in autocommit.
  if (caller.session().is_in_transaction()) caller.execute(sql::commit);
}

void roll_back(::soci::session& session) noexcept {
  try {
    connection{session}.execute(sql::roll_back);
  } catch (const std::exception&) {  // the connection is lost, and the transaction with it
  }
}

void roll_back_to_savepoint(::soci::session& session) noexcept {
  try {
    connection{session}.execute(sql::roll_back_to_savepoint);
  } catch (const std::exception&) {  // the error has ended the transaction
  }
}

}  // namespace

through_soci::begun_transaction begin(::soci::session& session) {
  recognise_conflicts();
  connection begun{session};
  if (begun.is_in_transaction()) {
    throw error{errc::misuse, "the session has an open transaction already: end it first"};
  }
  try {
    begun.execute(sql::read_committed_once);
    begun.execute(sql::begin);
    if (!begun.is_in_autocommit()) begun.execute(sql::mark_beginning);
  } catch (const std::exception&) {
    roll_back(session);  // or the application's next transaction would have this isolation level
    throw_as_error(effects::none, nullptr);
  }
  return {};
}

through_soci::lock_attempt try_to_lock(::soci::session& session, const lock_keys& keys,
                                       const soci_table& table, through_soci::isolation known) {
  caller_transaction caller{session, table.table};
  caller.require_transaction();
  locking attempt{caller, keys, table};
  if (keys.in_order().size() == 1) return attempt.run(known, detail::missing_rows::create);
  // Before the first read: then it gives back the rows of a transaction that has done nothing yet.
  caller.execute(sql::savepoint);
  try {
    auto done = attempt.run(known, detail::missing_rows::create);
    if (!done.locked) caller.execute(sql::roll_back_to_savepoint);
    caller.execute(sql::release_savepoint);
    return done;
  } catch (const std::exception&) {
    roll_back_to_savepoint(session);
    throw;
  }
}

through_soci::begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                             const soci_table& table) {
  for (bool created = false;; created = true) {
    begin(session);
    try {
      caller_transaction caller{session, table.table};
      auto attempt = locking{caller, keys, table}.run(through_soci::isolation::as_we_began_it,
                                                      detail::missing_rows::report);
      if (attempt.locked) return {};
      roll_back(session);
      if (attempt.refused) return {.refused = std::move(attempt.refused)};
      if (created) return {.refused = busy_at(keys.in_order().front())};
      create_rows(session, keys, table);
    } catch (const std::exception& thrown) {
      roll_back(session);
      if (!is_conflict(thrown)) throw;
      return {.refused = busy_at(keys.in_order().front())};
    }
  }
}

}  // namespace rowlock::mysql
