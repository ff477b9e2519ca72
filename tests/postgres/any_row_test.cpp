// A row that the library did not write.
#include <array>
#include <string>

#include "soci/soci_postgres_table.hpp"

namespace rowlock::tests {
namespace {

class PostgresAnyRow : public postgres_table {};

// What the library does not write, and the table lets in.
TEST_F(PostgresAnyRow, IsListedAndReadWhateverTheTableTakes) {
  postgres_store direct = open_store();
  soci_store through_soci{soci_url(), {.table = table()}};
  const std::string owned = "owner = repeat('a', 32), expires_at = ";
  for (const std::string& columns : {
           owned + "'2100-01-01', done_until = '2100-01-01'",
           owned + "'2100-01-01', done_by = 7",
           owned + "'2100-01-01', done_at = 'infinity', done_until = '2100-01-01'",
           owned + "'2100-01-01', acquired_at = '-infinity', waiting_until = 'infinity'",
           owned + "'294276-12-31', done_until = '294276-12-31'",
           owned + "'4713-01-01 BC', done_until = '4713-01-01 BC', done_by = -1",
           owned + "'epoch', failure_count = -1, expiry_count = -9223372036854775808",
           owned + "'infinity'",
           owned + "'-infinity', version = 0",
           owned + "'epoch', version = -9223372036854775808, holder = repeat('h', 100000)",
           std::string{"owner = 'short', expires_at = '2100-01-01', version = 9223372036854775807"},
           std::string{"owner = NULL, expires_at = 'infinity'"},
           std::string{"owner = NULL, holder = '', expires_at = '2100-01-01', note = ''"},
       }) {
    server_.query(table().in(
        "DELETE FROM shared_lock; INSERT INTO shared_lock (lock_type, source_id, version) "
        "VALUES ('owned', '1', 8999999999999999999)"));
    server_.query(table().in("UPDATE shared_lock SET " + columns));
    for (store* const rows : {static_cast<store*>(&direct), static_cast<store*>(&through_soci)}) {
      const auto listed = rows->list();
      ASSERT_EQ(listed.size(), 1U) << columns;
      EXPECT_EQ(listed.front().done.has_value(),
                columns.find("done_until = '2") != std::string::npos)
          << columns;
      const lock_key key{"owned", "1"};
      EXPECT_TRUE(rows->read(std::array{key}).front()) << columns;
    }
  }
}

}  // namespace
}  // namespace rowlock::tests
