// Prepared statements of one connection.
#include "mysql/prepared.hpp"

#include <soci/mysql/soci-mysql.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "mysql/errors.hpp"

namespace rowlock::mysql {

namespace {

struct free_shape {
  void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};

[[noreturn]] void throw_last_error(MYSQL_STMT& handle) {
  const auto* const user = handle.mysql == nullptr ? nullptr : handle.mysql->user;
  throw_driver_error(mysql_stmt_errno(&handle), mysql_stmt_error(&handle), user);
}

/// Nothing has been executed, the transaction is as it was, and the text of the statement may work:
/// the server does not know the handle, does not prepare such a statement, has too many, or did not
/// succeed in preparing it anew for a table that was altered. After any other failure the text may
/// not be sent: a deadlock has ended the transaction, and with it the row locks.
bool is_about_preparing(unsigned number) {
  return number == 1243 || number == 1295 || number == 1461 || number == 1615;
}

/// The server reads a text in the character set of the session, and bytes as they are.
enum_field_types type_of(bound_value::kind kind) {
  switch (kind) {
    case bound_value::kind::integer:
      return MYSQL_TYPE_LONGLONG;
    case bound_value::kind::null:
      return MYSQL_TYPE_NULL;
    case bound_value::kind::ascii:
    case bound_value::kind::json:
      return MYSQL_TYPE_STRING;
    case bound_value::kind::utf8:
    case bound_value::kind::bytes:
      break;
  }
  return MYSQL_TYPE_BLOB;
}

/// MariaDB does not prepare a block anew for a trigger that is added, and no statement for one that
/// is added beside a trigger with a block: it does not find the table that the new one writes.
/// Nothing was changed. If the table is missing in truth, the text fails, too.
bool may_be_outdated(unsigned number) {
  constexpr unsigned no_such_table = 1146;
  return number == no_such_table;
}

/// Refers to `value`. The client library takes what it only reads as not const.
MYSQL_BIND bind_of(const bound_value& value) {
  MYSQL_BIND bind{};
  bind.buffer_type = type_of(value.type());
  if (value.type() == bound_value::kind::integer) {
    bind.buffer = const_cast<std::int64_t*>(&value.number());  // NOLINT(*-const-cast)
  } else {
    bind.buffer = const_cast<char*>(value.content().data());  // NOLINT(*-const-cast)
    bind.buffer_length = value.content().size();
  }
  return bind;
}

/// A column of the answer, as text.
struct column {
  std::string text;
  unsigned long length = 0;
  my_bool is_null = 0;
};

/// With room for the longest value of each.
std::vector<column> columns_of(MYSQL_STMT& handle) {
  constexpr unsigned long longest_number = 32;
  const std::unique_ptr<MYSQL_RES, free_shape> shape{mysql_stmt_result_metadata(&handle)};
  if (shape == nullptr) throw_last_error(handle);
  std::vector<column> columns(mysql_num_fields(shape.get()));
  for (unsigned at = 0; at < columns.size(); ++at) {
    const auto longest = mysql_fetch_field_direct(shape.get(), at)->max_length;
    columns[at].text.resize(std::max(longest, longest_number));
  }
  return columns;
}

std::vector<result_set::row> rows_in(MYSQL_STMT& handle) {
  if (mysql_stmt_store_result(&handle) != 0) throw_last_error(handle);
  auto columns = columns_of(handle);
  std::vector<MYSQL_BIND> binds(columns.size());
  for (std::size_t at = 0; at < columns.size(); ++at) {
    binds[at].buffer_type = MYSQL_TYPE_STRING;
    binds[at].buffer = columns[at].text.data();
    binds[at].buffer_length = columns[at].text.size();
    binds[at].length = &columns[at].length;
    binds[at].is_null = &columns[at].is_null;
  }
  if (mysql_stmt_bind_result(&handle, binds.data()) != 0) throw_last_error(handle);
  std::vector<result_set::row> rows;
  int fetched = mysql_stmt_fetch(&handle);
  for (; fetched == 0; fetched = mysql_stmt_fetch(&handle)) {
    auto& row = rows.emplace_back(columns.size());
    for (std::size_t at = 0; at < columns.size(); ++at) {
      if (columns[at].is_null == 0) row[at].emplace(columns[at].text, 0, columns[at].length);
    }
  }
  if (fetched != MYSQL_NO_DATA) throw_last_error(handle);
  return rows;
}

result_set answer_of(MYSQL_STMT& handle) {
  result_set result;
  if (mysql_stmt_field_count(&handle) != 0) {
    result.rows = rows_in(handle);
    (void)mysql_stmt_free_result(&handle);
  }
  result.affected = mysql_stmt_affected_rows(&handle);
  result.insert_id = mysql_stmt_insert_id(&handle);
  // A block returns its own status at the end.
  for (int more = mysql_stmt_next_result(&handle); more >= 0;
       more = mysql_stmt_next_result(&handle)) {
    if (more > 0) throw_last_error(handle);
    (void)mysql_stmt_free_result(&handle);
  }
  return result;
}

}  // namespace

void prepared_statements::close::operator()(st_mysql_stmt* handle) const noexcept {
  (void)mysql_stmt_close(handle);
}

result_set prepared_statements::execute_first(const std::string& sql,
                                              std::initializer_list<bound_value> values) {
  auto result = session_.execute(sql, values);
  statements_.try_emplace(&sql);
  return result;
}

void prepared_statements::prepare(statement& made, const std::string& sql) {
  made.places.clear();
  const auto text = with_places(sql, [&](std::size_t place) {
    made.places.push_back(place);
    return "?";
  });
  std::unique_ptr<MYSQL_STMT, close> handle{mysql_stmt_init(session_.handle())};
  if (handle == nullptr) throw std::bad_alloc{};
  if (mysql_stmt_prepare(handle.get(), text.data(), text.size()) != 0) {
    throw_last_error(*handle);
  }
  const my_bool is_on = 1;
  (void)mysql_stmt_attr_set(handle.get(), STMT_ATTR_UPDATE_MAX_LENGTH, &is_on);
  made.handle = std::move(handle);
}

void prepared_statements::execute_prepared(const statement& prepared,
                                           std::initializer_list<bound_value> values) {
  std::vector<MYSQL_BIND> binds;
  binds.reserve(prepared.places.size());
  for (const auto place : prepared.places) binds.push_back(bind_of(*(values.begin() + place)));
  if ((!binds.empty() && mysql_stmt_bind_param(prepared.handle.get(), binds.data()) != 0) ||
      mysql_stmt_execute(prepared.handle.get()) != 0) {
    throw_last_error(*prepared.handle);
  }
}

result_set prepared_statements::execute(const std::string& sql,
                                        std::initializer_list<bound_value> values) {
  const auto found = statements_.find(&sql);
  if (found == statements_.end()) return execute_first(sql, values);
  auto& known = found->second;
  if (known.is_text_only) return session_.execute(sql, values);
  try {
    if (known.handle == nullptr) prepare(known, sql);
    execute_prepared(known, values);
    return answer_of(*known.handle);
  } catch (const ::soci::mysql_soci_error& thrown) {
    known.is_text_only = is_about_preparing(thrown.err_num_);
    if (!known.is_text_only && !may_be_outdated(thrown.err_num_)) throw;
  }
  known.handle.reset();
  return session_.execute(sql, values);
}

}  // namespace rowlock::mysql
