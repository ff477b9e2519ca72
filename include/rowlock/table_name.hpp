// The name of the lock table, its migrations, and its options on PostgreSQL.
#ifndef ROWLOCK_TABLE_NAME_HPP
#define ROWLOCK_TABLE_NAME_HPP

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowlock/detail/export.hpp"

namespace rowlock {

/// `table` or `schema.table`, each part `[A-Za-z_][A-Za-z0-9_]*`. A schema has at most 63
/// characters, a table 56, since other names are derived from it (`shared_lock_schema`,
/// `shared_lock_lock`). Names are quoted, so upper and lower case differ. Without a schema the
/// connection decides (PostgreSQL: its search_path).
class ROWLOCK_EXPORT table_name {
 public:
  /// `shared_lock`.
  table_name();
  /// Throws `error` (misuse) for any other name.
  table_name(std::string_view name);  // NOLINT(google-explicit-constructor)
  table_name(const char* name) : table_name{std::string_view{name}} {}         // NOLINT
  table_name(const std::string& name) : table_name{std::string_view{name}} {}  // NOLINT

  /// The name as it was given.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Returns `sql` with this name, quoted, in place of every `shared_lock` that begins a word. The
  /// rest of the word (`_schema`) stays inside the quotes.
  [[nodiscard]] std::string in(std::string_view sql) const;

 private:
  std::string text_;
};

/// One migration, as plain SQL for any migration tool. Each up text ends by writing its number into
/// `shared_lock_schema`; each down text removes it. Executing either again changes nothing.
struct migration {
  int number = 0;
  std::string name;
  std::string up;
  std::string down;
  /// Queries that fail if the tables of `up` are missing.
  std::string verify;
};

/// All migrations for `table`, in order.
ROWLOCK_EXPORT std::vector<migration> postgres_migrations(const table_name& table = {});
ROWLOCK_EXPORT std::vector<migration> sqlite_migrations(const table_name& table = {});
ROWLOCK_EXPORT std::vector<migration> mysql_migrations(const table_name& table = {});

/// The history of locks, an option of the database: a table of events, which triggers write. `up`
/// may be applied again; `down` ends the history and leaves the events. Its number is 0, since the
/// record of migrations omits it. docs/decisions/history.md says what it costs.
ROWLOCK_EXPORT migration postgres_history(const table_name& table = {});
ROWLOCK_EXPORT migration sqlite_history(const table_name& table = {});
ROWLOCK_EXPORT migration mysql_history(const table_name& table = {});

/// What a migration does with the history.
enum class history_option {
  unchanged,
  with,     ///< Begins it, unless it exists.
  without,  ///< Ends it, if it exists. The events stay.
};

/// The lock table, for transactions of the application. A name alone means a server with one clock.
struct postgres_table {
  postgres_table() = default;
  postgres_table(table_name named,  // NOLINT(google-explicit-constructor)
                 std::chrono::milliseconds skew = std::chrono::milliseconds::zero())
      : table{std::move(named)}, clock_skew{skew} {}
  postgres_table(std::string_view name) : table{name} {}  // NOLINT(google-explicit-constructor)
  postgres_table(const char* name) : table{name} {}       // NOLINT(google-explicit-constructor)

  table_name table = {};
  /// As `postgres_options::clock_skew`, and the same for all users of the table.
  std::chrono::milliseconds clock_skew{};
};

}  // namespace rowlock

#endif
