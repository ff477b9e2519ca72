// The lock table, and what PostgreSQL cannot tell about it.
#ifndef ROWLOCK_POSTGRES_TABLE_HPP
#define ROWLOCK_POSTGRES_TABLE_HPP

#include <chrono>
#include <string_view>
#include <utility>

#include "rowlock/table_name.hpp"

namespace rowlock {

/// A table whose rows transactions of the application use; a name alone is one of one clock.
struct postgres_table {
  postgres_table() = default;
  postgres_table(table_name named,  // NOLINT(google-explicit-constructor)
                 std::chrono::milliseconds skew = std::chrono::milliseconds::zero())
      : table{std::move(named)}, clock_skew{skew} {}
  postgres_table(std::string_view name) : table{name} {}  // NOLINT(google-explicit-constructor)
  postgres_table(const char* name) : table{name} {}       // NOLINT(google-explicit-constructor)

  table_name table = {};
  /// As `postgres_options::clock_skew`, and the same for all who use the table.
  std::chrono::milliseconds clock_skew{};
};

}  // namespace rowlock

#endif
