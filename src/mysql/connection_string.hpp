// Connection strings of MariaDB and MySQL: URLs, and parameters as SOCI reads them.
#ifndef ROWLOCK_MYSQL_CONNECTION_STRING_HPP
#define ROWLOCK_MYSQL_CONNECTION_STRING_HPP

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::mysql {

/// `name=value name='other value'`. In quotes, \ escapes a quote and itself.
class connection_parameters {
 public:
  explicit connection_parameters(std::string text) : text_{std::move(text)} {}

  /// Names and values in order, up to the first part that does not have this form.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> all() const;
  /// None if the name is missing, or the text does not have this form.
  [[nodiscard]] std::optional<std::string> value_of(std::string_view name) const;
  void add_unless_named(std::string_view name, std::string_view value);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace rowlock::mysql

#endif
