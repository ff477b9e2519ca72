// The statements of docs/sql.md, each executed by a driver of its database.
#ifndef ROWLOCK_TESTS_CLI_DOCUMENTED_STATEMENT_HPP
#define ROWLOCK_TESTS_CLI_DOCUMENTED_STATEMENT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rowlock::tests {

/// A value for `:name` or `:'name'`. On MariaDB and MySQL, where a value has no name, for the next
/// `?`.
struct documented_value {
  std::string name;
  std::variant<std::string, std::int64_t> value;
};
using documented_values = std::vector<documented_value>;

/// What a statement answers: the rows that it returns, or else how many it changes.
struct statement_answer {
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::int64_t changed = 0;
};

/// Executes the statement in autocommit, on a connection of its own.
statement_answer execute_documented(const std::string& url, const std::string& sql,
                                    const documented_values& values);

}  // namespace rowlock::tests

#endif
