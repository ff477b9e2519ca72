// A prepared SQLite statement, and result codes as errors.
#include "sqlite/statement.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <exception>

#include "rowlock/error.hpp"

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

namespace {

/// The low byte: an application may have turned extended codes on.
int primary_code(const failure& thrown) noexcept {
  return static_cast<int>(static_cast<unsigned>(thrown.code()) & 0xFFU);
}

/// SQLite reports a file that could not grow or be created as an error of input or output.
bool is_disk_full(const failure& thrown) noexcept {
  const int code = primary_code(thrown);
  const bool may_be = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const int system = thrown.system_error();
  return code == SQLITE_FULL || (may_be && (system == ENOSPC || system == EDQUOT));
}

struct meaning {
  errc kind;
  const char* what;
};

meaning meaning_of(const failure& thrown) noexcept {
  if (thrown.is_in_doubt()) {
    return {errc::outcome_unknown,
            "the disk failed while the change was being made durable: look whether it is there, or "
            "ask again"};
  }
  if (is_disk_full(thrown)) return {errc::unavailable, "the disk is full: free some space"};
  switch (primary_code(thrown)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {errc::unavailable,
              "others kept the file for too long: try again, and keep transactions short"};
    case SQLITE_READONLY:
      return {errc::unavailable,
              "the file cannot be written: check that it was not moved, and give this user write "
              "permission to the file and its folder"};
    case SQLITE_IOERR:
      return {errc::unavailable, "reading or writing the file failed: check the disk"};
    case SQLITE_CANTOPEN:
      return {errc::unavailable,
              "the file, its -wal or its -shm cannot be opened: give this user permission to read "
              "and write them and their folder"};
    case SQLITE_NOMEM:
      return {errc::unavailable, "there is not enough memory"};
    case SQLITE_NOTADB:
      return {errc::rejected, "the file is not a SQLite database: check the path"};
    case SQLITE_CORRUPT:
      return {errc::rejected, "the file is damaged: restore it from a backup"};
    case SQLITE_ERROR:
      return {errc::rejected, "a table or a column is missing"};
    case SQLITE_AUTH:
    case SQLITE_PERM:
      return {errc::rejected, "the application's authorizer does not allow it"};
    case SQLITE_CONSTRAINT:
      return {errc::misuse, "a value breaks a rule of the table"};
    default:
      return {errc::unavailable, "SQLite failed"};
  }
}

}  // namespace

bool is_busy(const failure& thrown) noexcept { return primary_code(thrown) == SQLITE_BUSY; }

bool is_about_value(const failure& thrown) noexcept {
  return primary_code(thrown) == SQLITE_CONSTRAINT || primary_code(thrown) == SQLITE_MISMATCH;
}

bool is_about_schema(const failure& thrown) noexcept {
  return primary_code(thrown) == SQLITE_ERROR;
}

void throw_as_commit(const failure& thrown) {
  throw primary_code(thrown) == SQLITE_IOERR ? thrown.in_doubt() : thrown;
}

void throw_error(const failure& thrown, const std::string& where, const std::string& if_missing) {
  const auto [kind, what] = meaning_of(thrown);
  const std::string remedy = is_about_schema(thrown) ? ": " + if_missing : "";
  std::throw_with_nested(error{kind, where + ": " + what + remedy + " (" + thrown.what() + ")"});
}

}  // namespace rowlock::sqlite
