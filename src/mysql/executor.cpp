// The execution of one call's statements on a MariaDB or MySQL session.
#include "mysql/executor.hpp"

#include <exception>

#include "mysql/sql/leases.hpp"
#include "mysql/sql/rows.hpp"
#include "mysql/sql/transactions.hpp"

namespace rowlock::mysql {

namespace {

std::vector<std::size_t> places_in(const result_set& result) {
  std::vector<std::size_t> places;
  places.reserve(result.rows.size());
  for (const auto& row : result.rows) {
    places.push_back(static_cast<std::size_t>(std::stoull(row.at(0).value())) - 1);
  }
  return places;
}

/// A short transaction on a session of a store.
class own_transaction {
 public:
  explicit own_transaction(connection& session) : session_{session} {
    try {
      session_.execute(sql::begin);
    } catch (...) {  // the server may have begun it
      session_.roll_back();
      throw;
    }
  }
  own_transaction(const own_transaction&) = delete;
  own_transaction& operator=(const own_transaction&) = delete;
  /// A transaction that cannot be ended makes the session unusable.
  ~own_transaction() {
    if (session_.is_in_transaction()) session_.roll_back();
  }

  void commit() { session_.execute(sql::commit); }

 private:
  connection& session_;
};

}  // namespace

std::vector<std::optional<seen_row>> executor::read(const key_list& keys) {
  return found_in(execute(sql::read, {rows_of(keys).value()}), keys);
}

std::optional<result_set> executor::write(std::string_view text,
                                          std::initializer_list<bound_value> values) {
  const auto before = changed_;
  if (changed_ == effects::none) changed_ = effects::possible;
  try {
    auto result = execute(text, values);
    changed_ = result.affected == 0 ? before : effects::made;
    return result;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown, text)) throw;
    changed_ = before;
    return std::nullopt;
  }
}

std::optional<result_set> executor::write_block(std::string_view text,
                                                std::initializer_list<bound_value> values) {
  try {
    return write(text, values);
  } catch (const std::exception& thrown) {
    if (is_interruption(error_number_of(thrown))) changed_ = effects::made;
    throw;
  }
}

written_rows executor::write_unlocked(std::string_view have_sql, const json_rows& to_have,
                                      std::string_view write_sql, const json_rows& to_write,
                                      const bound_value& second_value, std::size_t at_most) {
  const auto before = changed_;
  try {
    own_transaction transaction{session_};
    written_rows written;
    const bound_value limit{static_cast<std::int64_t>(at_most)};
    written.places = places_in(execute(have_sql, {to_have.value(), limit}));
    if (written.places.empty()) return written;
    const auto result = execute(write_sql, {to_write.only(written.places).value(), second_value});
    written.affected = result.affected;
    written.insert_id = result.insert_id;
    if (changed_ == effects::none) changed_ = effects::possible;
    transaction.commit();
    changed_ = effects::made;
    return written;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown, write_sql)) throw;
    changed_ = before;
    return {};
  }
}

std::vector<std::size_t> executor::unlocked_of(const json_rows& existing) {
  if (existing.empty()) return {};
  try {
    return places_in(execute(sql::have_many_at_version, {existing.value()}));
  } catch (const std::exception& thrown) {
    // SKIP LOCKED does not detect rows that another node of a Galera cluster is about to commit.
    if (!is_contention(thrown, sql::have_many_at_version)) throw;
    return {};
  }
}

bool executor::is_free(const lock_key& key) {
  try {
    const auto found = execute(sql::lock_if_free,
                               {bound_value::ascii(key.type), bound_value::bytes(key.source_id)});
    return !found.rows.empty();
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown, sql::lock_if_free)) throw;
    return false;
  }
}

std::optional<result_set> executor::write_all_or_none(std::string_view write_sql,
                                                      const json_rows& to_write,
                                                      const bound_value& second_value,
                                                      const json_rows& existing) {
  try {
    if (answers_at_once()) return write(write_sql, {to_write.value(), second_value});
    own_transaction transaction{session_};
    if (unlocked_of(existing).size() != existing.size()) return std::nullopt;
    auto result = execute(write_sql, {to_write.value(), second_value});
    changed_ = effects::possible;
    transaction.commit();
    changed_ = effects::made;
    return result;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown, write_sql) && !is_overflow(error_number_of(thrown))) throw;
    changed_ = effects::none;
    return std::nullopt;
  }
}

}  // namespace rowlock::mysql
