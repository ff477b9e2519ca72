// The real rowlock command on a real database.
#ifndef ROWLOCK_TESTS_CLI_CLI_TEST_HPP
#define ROWLOCK_TESTS_CLI_CLI_TEST_HPP

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {

using words = std::vector<std::string>;

/// What a process that has ended leaves.
struct result {
  int code = -1;
  std::string output;
  std::string errors;
};

result run(const words& command);
/// Runs the rowlock command.
result run_rowlock(const words& arguments);
/// Reads its output to the end.
result result_of(child_process& ended);

/// A shell script that sets `traps`, says `started`, and then does nothing but obey them.
std::string script_with(const std::string& traps);

/// What `process` has written to its standard error, once `text` is in it.
std::string errors_with(const std::string& text, const child_process& process);

/// Returns once a signal no longer ends `process` by itself.
void await_readiness_for(int number, pid_t process);

words operator+(words left, const words& right);

/// A database without a lock table yet.
class cli_database {
 public:
  cli_database() = default;
  cli_database(const cli_database&) = delete;
  cli_database& operator=(const cli_database&) = delete;
  virtual ~cli_database() = default;

  [[nodiscard]] virtual std::string url() const = 0;
  /// Its name, for --table.
  [[nodiscard]] virtual std::string table() const = 0;
  virtual void execute(const std::string& sql) = 0;
  /// A transaction that has locked all rows of `table`, until it is destroyed.
  virtual std::shared_ptr<void> lock_rows_of(const std::string& table) = 0;
  /// Locks the row of `key` in a transaction that commits, and moves its version in one that does.
  virtual void lock_and_commit(const lock_key& key) = 0;
  virtual void commit_optimistically(const lock_key& key) = 0;
  /// The one number that `sql` selects.
  virtual long long number(const std::string& sql) = 0;
};

struct cli_database_kind {
  const char* name;
  std::unique_ptr<cli_database> (*make)();
};
inline void PrintTo(const cli_database_kind& kind, std::ostream* out) { *out << kind.name; }
std::unique_ptr<cli_database> make_sqlite_database();
std::unique_ptr<cli_database> make_postgres_database();
std::unique_ptr<cli_database> make_mariadb_database();

/// What every database does alike.
class CliTest : public testing::TestWithParam<cli_database_kind> {
 protected:
  /// `rowlock SUBCOMMAND URL --table NAME` and what follows.
  [[nodiscard]] words rowlock(const std::string& subcommand, const words& more = {}) const;
  [[nodiscard]] result migrate() const { return run(rowlock("migrate")); }

  /// `rowlock run` of a command under the key invoice/42.
  [[nodiscard]] words under_lock(const words& command, const words& options = {}) const;
  /// The same of a shell script.
  [[nodiscard]] words script_under_lock(const std::string& script, const words& options = {}) const;

  /// Both take SQL that says `shared_lock` for the lock table.
  void execute(const std::string& sql) const { database_->execute(in_table(sql)); }
  [[nodiscard]] long long number(const std::string& sql) const {
    return database_->number(in_table(sql));
  }

  [[nodiscard]] std::string list() const { return run(rowlock("list")).output; }

  /// What the commands work on, for what they do not do themselves.
  [[nodiscard]] std::unique_ptr<store> open() const {
    return open_store(database_->url(), table_name{database_->table()});
  }

  [[nodiscard]] std::string in_table(const std::string& sql) const;

  const std::unique_ptr<cli_database> database_ = GetParam().make();
};

/// The same with a lock table.
class LockedCliTest : public CliTest {
 protected:
  void SetUp() override { ASSERT_EQ(migrate().code, 0); }
};

/// On every database; names the tests after them.
#define ROWLOCK_ON_EVERY_DATABASE(suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(On, suite,                                                             \
                           testing::Values(cli_database_kind{"Sqlite", make_sqlite_database},     \
                                           cli_database_kind{"Postgres", make_postgres_database}, \
                                           cli_database_kind{"Mariadb", make_mariadb_database}),  \
                           [](const auto& kind) { return std::string{kind.param.name}; })

}  // namespace rowlock::tests

#endif
