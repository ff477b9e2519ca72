// The name of the lock table, checked and quoted once.
#ifndef ROWLOCK_TABLE_NAME_HPP
#define ROWLOCK_TABLE_NAME_HPP

#include <string>
#include <string_view>

namespace rowlock {

/// `table` or `schema.table`, each part `[A-Za-z_][A-Za-z0-9_]*`. A schema has at most 63
/// characters, a table 56, because the names of its companions (`shared_lock_schema`,
/// `shared_lock_lock`) are made from it. Names are quoted, so upper and lower case differ.
///
/// Without a schema the connection decides (PostgreSQL: its search_path); with one, nothing does.
class table_name {
 public:
  /// `shared_lock`.
  table_name();
  /// Throws `error` (misuse) for anything but the above.
  table_name(std::string_view name);  // NOLINT(google-explicit-constructor)
  table_name(const char* name) : table_name{std::string_view{name}} {}         // NOLINT
  table_name(const std::string& name) : table_name{std::string_view{name}} {}  // NOLINT

  /// As it was given.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// `sql` with every `shared_lock` that begins a word replaced by this name, quoted; what follows
  /// in the word (`_schema`) stays inside the quotes.
  [[nodiscard]] std::string in(std::string_view sql) const;

 private:
  std::string text_;
};

}  // namespace rowlock

#endif
