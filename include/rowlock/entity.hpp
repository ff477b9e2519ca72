// A row of the application: its table, its id and its version.
#ifndef ROWLOCK_ENTITY_HPP
#define ROWLOCK_ENTITY_HPP

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rowlock {

// Each name is `[A-Za-z_][A-Za-z0-9_]{0,62}`; a schema and a dot may precede a table. Other names
// are misuse, detected before anything is sent.

/// The column that identifies a row, or several columns in braces: `{"hall", "seat"}`.
class column_names {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  column_names() = default;
  column_names(const char* name) : names_{name} {}
  column_names(std::string name) : names_{std::move(name)} {}
  column_names(std::initializer_list<std::string> names) : names_{names} {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return names_; }

 private:
  std::vector<std::string> names_;
};

template <class Number>
concept id_number =
    std::integral<Number> && !std::same_as<Number, bool> && !std::same_as<Number, char> &&
    !std::same_as<Number, wchar_t> && !std::same_as<Number, char8_t> &&
    !std::same_as<Number, char16_t> && !std::same_as<Number, char32_t>;

/// The id of a row: a number, a UTF-8 text, or one of these for each id column: `{"A", 7}`. A text
/// also matches a numeric column if it is the number as the database prints it. An id that its
/// column cannot contain is missing or an error; on PostgreSQL it is misuse and ends the
/// transaction. An id that matches several rows is the caller's error and is not detected.
class row_id {
 public:
  using part = std::variant<std::int64_t, std::string>;

  // NOLINTBEGIN(google-explicit-constructor)
  template <id_number Number>
  row_id(Number number) : parts_{part_of(number)} {}
  row_id(std::string text) : parts_{part{std::move(text)}} {}
  row_id(std::string_view text) : row_id{std::string{text}} {}
  row_id(const char* text) : row_id{std::string{text}} {}
  row_id(std::initializer_list<part> parts) : parts_{parts} {}
  row_id(std::vector<part> parts) : parts_{std::move(parts)} {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] const std::vector<part>& parts() const noexcept { return parts_; }

 private:
  /// Digits, for a number above the largest `std::int64_t`.
  static part part_of(id_number auto number) {
    if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
    return std::to_string(number);
  }

  std::vector<part> parts_;
};

/// The strength of a row's lock. Only PostgreSQL has both; elsewhere it is the stronger one.
enum class entity_lock {
  /// FOR NO KEY UPDATE: to change the row but not its key. Others can insert rows that refer to it.
  for_update,
  /// FOR UPDATE: to delete the row, change its key, or prevent inserts of rows that refer to it.
  for_key_update,
};

/// A table of the application, not a view, for `lock_entity`. InnoDB on MariaDB and MySQL.
struct entity_table {
  std::string table;
  /// A primary key or another unique key.
  column_names id_column;
  entity_lock lock = entity_lock::for_update;
};

/// What a version column contains. A commit that does not move the column forward is `rejected`:
/// its type cannot hold the version (a time coarser than microseconds, a number of few digits), or
/// a trigger has set it. On PostgreSQL an AFTER trigger is not detected.
enum class version_kind {
  /// An integer; each commit adds one.
  number,
  /// A time with microseconds. Each commit moves it to the database's clock, and by at least one
  /// microsecond. PostgreSQL: `timestamptz`, or `timestamp` in the session's time zone. MariaDB and
  /// MySQL: `datetime(6)` or `timestamp(6)`, in the session's time zone. SQLite: text `YYYY-MM-DD
  /// HH:MM:SS.ffffff`, UTC, with at most six fractional digits.
  timestamp,
};

/// A table of the application with a version column, for `try_commit` and `read_version`. A version
/// is a `std::int64_t`: the number, or the microseconds since 1970-01-01 00:00 (without a time
/// zone, from the digits as they are). On MariaDB and MySQL the table must be InnoDB.
struct versioned_table {
  std::string table;
  column_names id_column;
  std::string version_column;
  version_kind version_is = version_kind::number;
};

}  // namespace rowlock

#endif
