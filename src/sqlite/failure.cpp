// Errors of SQLite, and what they mean.
#include "sqlite/failure.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <exception>

#include "rowlock/error.hpp"

namespace rowlock::sqlite {

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
