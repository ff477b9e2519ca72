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

// Each name is `[A-Za-z_][A-Za-z0-9_]{0,62}`; a table may have a schema before a dot. Other names
// are misuse, found before anything is sent.

/// The column that identifies a row, or several in braces: `{"hall", "seat"}`.
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

/// The id of a row: a number, a text in UTF-8, or one of these for each of its columns: `{"A", 7}`.
/// A text matches a column of numbers, too, if it is the number as the database shows it. An id
/// that its column cannot contain is missing or an error; on PostgreSQL it is misuse, and ends the
/// transaction. An id that matches several rows is the caller's error, and is not noticed.
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
  /// The digits of a number above the largest `std::int64_t`.
  static part part_of(id_number auto number) {
    if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
    return std::to_string(number);
  }

  std::vector<part> parts_;
};

/// How strong the lock of a row is. Only PostgreSQL has both; elsewhere a lock is for its key.
enum class entity_lock {
  /// To change the row, but not its key: FOR NO KEY UPDATE. Other transactions can insert rows that
  /// refer to it.
  for_update,
  /// To delete the row or change its key as well, or so that no row that refers to it is inserted:
  /// FOR UPDATE.
  for_key_update,
};

/// A table of the application, for `lock_entity`; not a view. On MariaDB and MySQL its engine must
/// be InnoDB.
struct entity_table {
  std::string table;
  /// Of a primary key or another unique one.
  column_names id_column;
  entity_lock lock = entity_lock::for_update;
};

/// What a version column contains. A commit that leaves the column where it was, or before it, is
/// `rejected`: its type cannot keep the version (less than microseconds, a number of few digits),
/// or a trigger has set it. On PostgreSQL a trigger AFTER the update is not noticed.
enum class version_kind {
  /// An integer; each commit adds one.
  number,
  /// A time with microseconds. Each commit moves it to the database's clock, and at least by one
  /// microsecond. PostgreSQL: `timestamptz`, or `timestamp` in the time zone of the session.
  /// MariaDB and MySQL: `datetime(6)` or `timestamp(6)`, in the time zone of the session. SQLite: a
  /// text `YYYY-MM-DD HH:MM:SS.ffffff`, UTC, with at most six digits behind the point.
  timestamp,
};

/// A table of the application with a version column, for `try_commit` and `read_version`. A version
/// is a `std::int64_t`: the number, or the microseconds since 1970-01-01 00:00 (of a time without a
/// zone: of its own digits). On MariaDB and MySQL the engine of the table must be InnoDB.
struct versioned_table {
  std::string table;
  column_names id_column;
  std::string version_column;
  version_kind version_is = version_kind::number;
};

}  // namespace rowlock

#endif
