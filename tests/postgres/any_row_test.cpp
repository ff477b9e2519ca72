// A row that the library did not write.
#include <array>
#include <string>

#include "rowlock/postgres.hpp"
#include "soci/soci_postgres_table.hpp"

namespace rowlock::tests {
namespace {

class PostgresAnyRow : public postgres_table {
 protected:
  /// The row, as a statement written by hand has made it.
  void make(const std::string& columns) {
    server_.query(table().in(
        "DELETE FROM shared_lock; INSERT INTO shared_lock (lock_type, source_id, version) "
        "VALUES ('owned', '1', 8999999999999999999)"));
    server_.query(table().in("UPDATE shared_lock SET " + columns));
  }

  // What the library does not write, and the table lets in.
  static inline const std::string owned = "owner = repeat('a', 32), expires_at = ";
  static inline const std::vector<std::string> live{
      owned + "'2100-01-01', done_until = '2100-01-01'",
      owned + "'2100-01-01', done_by = 7",
      owned + "'2100-01-01', done_at = 'infinity', done_until = '2100-01-01'",
      owned + "'2100-01-01', acquired_at = '-infinity', waiting_until = 'infinity'",
      owned + "'294276-12-31', done_until = '294276-12-31'",
      owned + "'infinity'",
      owned + "'2100-01-01', holder = repeat('h', 100000)",
      "owner = 'short', expires_at = '2100-01-01', version = 9223372036854775807",
      "owner = NULL, expires_at = 'infinity'",
      "owner = NULL, holder = '', expires_at = '2100-01-01', note = ''"};
  static inline const std::vector<std::string> free{
      owned + "'4713-01-01 BC', done_until = '4713-01-01 BC', done_by = -1",
      owned + "'epoch', failure_count = -1, expiry_count = -9223372036854775807",
      owned + "'-infinity', version = 0",
      owned + "'epoch', version = -9223372036854775808, holder = repeat('h', 100000)"};

  const lock_key row_{"owned", "1"};
};

TEST_F(PostgresAnyRow, IsListedAndReadWhateverTheTableTakes) {
  postgres_store direct = open_store();
  soci_store through_soci{soci_url(), {.table = table()}};
  for (const auto& some : {live, free}) {
    for (const auto& columns : some) {
      make(columns);
      for (store* const rows : {static_cast<store*>(&direct), static_cast<store*>(&through_soci)}) {
        const auto listed = rows->list();
        ASSERT_EQ(listed.size(), 1U) << columns;
        EXPECT_EQ(listed.front().done.has_value(),
                  columns.find("done_until = '2") != std::string::npos)
            << columns;
        EXPECT_TRUE(rows->read(std::array{row_}).front()) << columns;
      }
    }
  }
}

TEST_F(PostgresAnyRow, IsGrantedAndLockedOrRefused) {
  postgres_store rows = open_store();
  (void)rows.list();
  const auto is_granted = [](const acquire_answer& answer) {
    return answer.status == acquire_status::granted;
  };
  const auto try_all = [&](const std::string& columns, bool is_free) {
    make(columns);
    EXPECT_EQ(is_granted(acquire(rows, row_)), is_free) << columns;
    for (const auto how : {acquire_mode::each, acquire_mode::all_or_none, acquire_mode::any}) {
      make(columns);
      const auto answers = rows.acquire(std::array{request(row_), request(key_)}, {how, 2});
      EXPECT_EQ(is_granted(answers.front()), is_free) << columns;
    }
    make(columns);
    for (const auto& keys : {lock_keys{row_}, lock_keys{row_, key_}}) {
      open_work open;
      EXPECT_EQ(lock_rows(open.work, keys, no_wait(), table()).acquired(), is_free) << columns;
    }
  };
  for (const auto& columns : live) try_all(columns, false);
  for (const auto& columns : free) try_all(columns, true);
}

TEST_F(PostgresAnyRow, IsReleasedByForce) {
  postgres_store rows = open_store();
  for (const auto& columns : live) {
    if (columns.find("9223372036854775807") != std::string::npos) continue;  // there is none above
    make(columns);
    const auto seen = rows.read(std::array{row_}).front()->version;
    EXPECT_EQ(rows.force_release({.key = row_, .version = seen, .reason = "a test"}),
              force_answer::released)
        << columns;
  }
}

}  // namespace
}  // namespace rowlock::tests
