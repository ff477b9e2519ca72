// A prepared SQLite statement.
#include "sqlite/statement.hpp"

#include <sqlite3.h>

namespace rowlock::sqlite {

namespace {

[[noreturn]] void throw_failure(sqlite3* database, int code) {
  throw failure{code, sqlite3_errmsg(database), sqlite3_system_errno(database)};
}

}  // namespace

statement::statement(sqlite3* database, std::string_view sql) : database_{database} {
  require_ok(
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &prepared_, nullptr));
}

statement::~statement() { sqlite3_finalize(prepared_); }

void statement::require_ok(int code) const {
  if (code != SQLITE_OK) throw_failure(database_, code);
}

void statement::bind(int place, std::int64_t value) {
  require_ok(sqlite3_bind_int64(prepared_, place, value));
}

void statement::bind(int place, std::string_view value) {
  require_ok(sqlite3_bind_text(prepared_, place, value.data(), static_cast<int>(value.size()),
                               SQLITE_STATIC));
}

void statement::bind_null(int place) { require_ok(sqlite3_bind_null(prepared_, place)); }

bool statement::has_next_row() {
  const int answer = sqlite3_step(prepared_);
  if (answer == SQLITE_ROW) return true;
  if (answer == SQLITE_DONE) return false;
  throw_failure(database_, answer);
}

int statement::changed_rows() {
  while (has_next_row()) continue;
  return sqlite3_changes(database_);
}

void statement::reset() noexcept { sqlite3_reset(prepared_); }

bool statement::is_null(int column) const noexcept {
  return sqlite3_column_type(prepared_, column) == SQLITE_NULL;
}

std::int64_t statement::integer(int column) const noexcept {
  return sqlite3_column_int64(prepared_, column);
}

std::string statement::text(int column) const {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes, whatever their sign
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(prepared_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(prepared_, column))};
}

void execute(sqlite3* database, std::string_view sql) {
  const std::string terminated{sql};
  const int answer = sqlite3_exec(database, terminated.c_str(), nullptr, nullptr, nullptr);
  if (answer != SQLITE_OK) throw_failure(database, answer);
}

}  // namespace rowlock::sqlite
