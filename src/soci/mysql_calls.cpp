// What one call of the port asks a MariaDB or MySQL server.
#include "soci/mysql_calls.hpp"

#include <exception>

namespace rowlock::through_soci {

namespace {

namespace text = sql::mysql;

/// A short one of ours, on a session of ours.
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

std::vector<std::optional<found_row>> mysql_calls::look(const key_list& keys) {
  return found_in(read(statements_.look, {rows_of(keys).value()}), keys);
}

std::optional<mysql_answer> mysql_calls::write(std::string_view sql,
                                               std::initializer_list<mysql_value> values) {
  const auto before = had_;
  if (had_ == mysql_effects::none) had_ = mysql_effects::possible;
  try {
    auto answered = session_.execute(sql, values);
    had_ = answered.affected == 0 ? before : mysql_effects::made;
    return answered;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown)) throw;
    had_ = before;
    return std::nullopt;
  }
}

std::vector<std::size_t> mysql_calls::write_what_nobody_has(std::string_view have_sql,
                                                            const json_rows& to_have,
                                                            std::string_view write_sql,
                                                            const json_rows& to_write,
                                                            const mysql_value& second_value) {
  const auto before = had_;
  try {
    own_transaction transaction{session_};
    std::vector<std::size_t> places;
    for (const auto& row : session_.execute(have_sql, {to_have.value()}).rows) {
      places.push_back(static_cast<std::size_t>(std::stoull(row.at(0).value())) - 1);
    }
    if (places.empty()) return places;
    session_.execute(write_sql, {to_write.only(places).value(), second_value});
    if (had_ == mysql_effects::none) had_ = mysql_effects::possible;
    transaction.commit();
    had_ = mysql_effects::made;
    return places;
  } catch (const std::exception& thrown) {
    if (!is_contention(thrown)) throw;
    had_ = before;
    return {};
  }
}

}  // namespace rowlock::through_soci
