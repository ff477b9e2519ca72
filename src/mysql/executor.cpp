// The statements of one call on a MariaDB or MySQL session.
#include "mysql/executor.hpp"

#include <exception>

namespace rowlock::through_soci {

namespace {

namespace text = sql::mysql;

std::vector<std::size_t> places_in(const mysql_answer& answered) {
  std::vector<std::size_t> places;
  places.reserve(answered.rows.size());
  for (const auto& row : answered.rows) {
    places.push_back(static_cast<std::size_t>(std::stoull(row.at(0).value())) - 1);
  }
  return places;
}

/// A short transaction on a session of a store.
class own_transaction {
 public:
  explicit own_transaction(mysql_session& session) : session_{session} {
    session_.execute(text::begin);
  }
  own_transaction(const own_transaction&) = delete;
  own_transaction& operator=(const own_transaction&) = delete;
  ~own_transaction() {
    if (!session_.is_in_transaction()) return;
    try {
      session_.execute(text::roll_back);
    } catch (const std::exception&) {  // then the connection is lost, and the transaction with it
    }
  }

  void commit() { session_.execute(text::commit); }

 private:
  mysql_session& session_;
};

}  // namespace

std::vector<std::optional<seen_row>> mysql_executor::read(const key_list& keys) {
  return found_in(execute(statements_.look, {rows_of(keys).value()}), keys);
}

std::optional<mysql_answer> mysql_executor::write(std::string_view sql,
                                                  std::initializer_list<mysql_value> values) {
  const auto before = changed_;
  if (changed_ == mysql_effects::none) changed_ = mysql_effects::possible;
  try {
    auto answered = session_.execute(sql, values);
    changed_ = answered.affected == 0 ? before : mysql_effects::made;
    return answered;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown)) throw;
    changed_ = before;
    return std::nullopt;
  }
}

mysql_written mysql_executor::write_unlocked(std::string_view have_sql, const json_rows& to_have,
                                             std::string_view write_sql, const json_rows& to_write,
                                             const mysql_value& second_value, std::size_t at_most) {
  const auto before = changed_;
  try {
    own_transaction transaction{session_};
    mysql_written written;
    const mysql_value limit{static_cast<std::int64_t>(at_most)};
    written.places = places_in(session_.execute(have_sql, {to_have.value(), limit}));
    if (written.places.empty()) return written;
    const auto answered =
        session_.execute(write_sql, {to_write.only(written.places).value(), second_value});
    written.affected = answered.affected;
    written.insert_id = answered.insert_id;
    if (changed_ == mysql_effects::none) changed_ = mysql_effects::possible;
    transaction.commit();
    changed_ = mysql_effects::made;
    return written;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown)) throw;
    changed_ = before;
    return {};
  }
}

std::vector<std::size_t> mysql_executor::unlocked_of(const json_rows& existing) {
  if (existing.empty()) return {};
  try {
    return places_in(session_.execute(statements_.have_many_at_version, {existing.value()}));
  } catch (const std::exception& thrown) {
    // SKIP LOCKED does not see what another node of a Galera cluster is about to commit.
    if (!is_contention(thrown)) throw;
    return {};
  }
}

bool mysql_executor::is_free(const lock_key& key) {
  try {
    const auto found =
        session_.execute(statements_.lock_if_free,
                         {mysql_value::ascii(key.type), mysql_value::bytes(key.source_id)});
    return !found.rows.empty();
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown)) throw;
    return false;
  }
}

std::optional<mysql_answer> mysql_executor::write_all_or_none(std::string_view write_sql,
                                                              const json_rows& to_write,
                                                              const mysql_value& second_value,
                                                              const json_rows& existing) {
  try {
    if (answers_at_once()) return write(write_sql, {to_write.value(), second_value});
    own_transaction transaction{session_};
    if (unlocked_of(existing).size() != existing.size()) return std::nullopt;
    auto answered = session_.execute(write_sql, {to_write.value(), second_value});
    changed_ = mysql_effects::possible;
    transaction.commit();
    changed_ = mysql_effects::made;
    return answered;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown) && !is_overflow(error_number_of(thrown))) throw;
    changed_ = mysql_effects::none;
    return std::nullopt;
  }
}

}  // namespace rowlock::through_soci
