// Row locks in a transaction on MariaDB or MySQL.
#include <exception>
#include <utility>

#include "mysql/errors.hpp"
#include "mysql/sql/transactions.hpp"
#include "mysql/transaction.hpp"
#include "rowlock/error.hpp"

namespace rowlock::mysql {

namespace {

enum class missing_rows { report, create };

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

  through_soci::lock_attempt run(through_soci::isolation known, missing_rows missing) {
    const auto seen = caller_.read_with_settings(keys_);
    if (!seen) return {.refused = busy_at(*keys_.front())};
    check_settings(*seen, table_, known);
    skew_ = skew_of(*seen, table_);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto& row = seen->rows[i];
      if (!row) {
        missing_.push_back(keys_[i]);
      } else if (!row->can_be_taken(skew_)) {
        return {.refused = held_by(*row)};
      } else {
        existing_.push_back(keys_[i]);
        at_versions_.add(row_of(*keys_[i]).number(row->state.version.number));
      }
    }
    if (!missing_.empty() && missing == missing_rows::report) return {};
    if (keys_.size() == 1) return lock_one();
    return lock_all_or_none();
  }

 private:
  through_soci::lock_attempt lock_one() {
    const auto& key = *keys_.front();
    const auto type = bound_value::ascii(key.type);
    const auto id = bound_value::bytes(key.source_id);
    const auto result =
        missing_.empty() ? caller_.at_once(sql::lock_row, at_versions_, {type, id, skew_.count()})
                         : caller_.at_once(sql::lock_missing_row, {type, id});
    if (!result || result->affected == 0) return {.refused = why_not()};
    row_lock locked;
    locked.rows.push_back({key, caller_.version_in(*result, key)});
    return {.locked = std::move(locked)};
  }

  through_soci::lock_attempt lock_all_or_none() {
    caller_.execute(sql::savepoint);
    if (!have_all()) {
      caller_.execute(sql::roll_back_to_savepoint);
      caller_.execute(sql::release_savepoint);
      return {.refused = why_not()};
    }
    caller_.execute(sql::release_savepoint);
    const auto now = caller_.read(keys_).value();
    row_lock locked;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      locked.rows.push_back({*keys_[i], now[i].value().state.version});
    }
    return {.locked = std::move(locked)};
  }

  bool have_all() {
    if (!existing_.empty()) {
      const auto result = caller_.at_once(sql::lock_many, at_versions_,
                                          {rows_of(existing_).value(), skew_.count()});
      if (!result || result->affected != existing_.size()) return false;
    }
    return std::all_of(missing_.begin(), missing_.end(), [this](const lock_key* key) {
      return caller_
          .at_once(sql::lock_missing_row,
                   {bound_value::ascii(key->type), bound_value::bytes(key->source_id)})
          .has_value();
    });
  }

  /// A lease that was granted meanwhile, or the row lock of another transaction.
  refusal why_not() {
    const auto now = caller_.read(keys_);
    if (!now) return busy_at(*keys_.front());
    for (const auto& row : *now) {
      if (row && !row->can_be_taken(skew_)) return held_by(*row);
    }
    return busy_at(*keys_.front());
  }

  caller_transaction& caller_;
  const soci_table& table_;
  key_list keys_;
  std::chrono::microseconds skew_{};
  key_list missing_;
  key_list existing_;
  json_rows at_versions_;
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
  return locking{caller, keys, table}.run(known, missing_rows::create);
}

through_soci::begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                             const soci_table& table) {
  for (bool created = false;; created = true) {
    begin(session);
    try {
      caller_transaction caller{session, table.table};
      auto attempt = locking{caller, keys, table}.run(through_soci::isolation::as_we_began_it,
                                                      missing_rows::report);
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
