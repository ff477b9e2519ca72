// The real rowlock command on a real database.
#include "cli/cli_test.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <soci/soci.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <pqxx/pqxx>
#include <stdexcept>

#include "rowlock/postgres.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/table_name.hpp"
#include "support/mariadb_line.hpp"
#include "support/mysql_database.hpp"
#include "support/postgres_schema.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

class sqlite_cli_database final : public cli_database {
 public:
  [[nodiscard]] std::string url() const override { return "sqlite://" + path(); }
  [[nodiscard]] std::string table() const override { return "shared_lock"; }
  void execute(const std::string& sql) override { open().exec(sql); }
  long long number(const std::string& sql) override { return open().execAndGet(sql).getInt64(); }
  std::shared_ptr<void> lock_rows_of(const std::string& /*table*/) override {
    auto connection = std::make_shared<SQLite::Database>(path(), SQLite::OPEN_READWRITE, 10'000);
    connection->exec("begin immediate");
    return connection;
  }
  void lock_and_commit(const lock_key& key) override {
    auto database = open();
    EXPECT_TRUE(
        with_row_lock<sqlite_transaction>(database, key, [](sqlite_transaction&) {}).acquired());
  }
  void commit_optimistically(const lock_key& key) override {
    auto database = open();
    EXPECT_TRUE(with_optimistic_commit<sqlite_transaction>(database, key, [](sqlite_transaction&) {
                }).acquired());
  }

 private:
  [[nodiscard]] std::string path() const { return folder_.path() / "locks.db"; }
  [[nodiscard]] SQLite::Database open() const {
    return SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10'000};
  }

  temp_folder folder_;
};

class postgres_cli_database final : public cli_database {
 public:
  [[nodiscard]] std::string url() const override { return postgres_url(); }
  [[nodiscard]] std::string table() const override { return schema_.table().text(); }
  void execute(const std::string& sql) override { postgres_schema::execute(sql); }
  long long number(const std::string& sql) override {
    pqxx::connection connection{postgres_url()};
    pqxx::work work{connection};
    return work.exec(sql).at(0).at(0).as<long long>();
  }
  std::shared_ptr<void> lock_rows_of(const std::string& table) override {
    struct transaction {
      pqxx::connection connection{postgres_url()};
      pqxx::work work{connection};
    };
    auto open = std::make_shared<transaction>();
    open->work.exec("select from " + table + " for update");
    return open;
  }
  void lock_and_commit(const lock_key& key) override {
    pqxx::connection connection{postgres_url()};
    EXPECT_TRUE(with_row_lock<pqxx::work>(
                    connection, lock_keys{key}, no_wait(), [](pqxx::work&) {},
                    postgres_table{table_name{table()}})
                    .acquired());
  }
  void commit_optimistically(const lock_key& key) override {
    pqxx::connection connection{postgres_url()};
    EXPECT_TRUE(with_optimistic_commit<pqxx::work>(
                    connection, key, [](pqxx::work&) {}, postgres_table{table_name{table()}})
                    .acquired());
  }

 private:
  postgres_schema schema_;
};

class mariadb_cli_database final : public cli_database {
 public:
  [[nodiscard]] std::string url() const override { return database_.url(); }
  [[nodiscard]] std::string table() const override { return "shared_lock"; }
  void execute(const std::string& sql) override { database_.execute(in_backticks(sql)); }
  long long number(const std::string& sql) override {
    return std::stoll(database_.value(in_backticks(sql)));
  }
  std::shared_ptr<void> lock_rows_of(const std::string& table) override {
    auto connection = std::make_shared<mariadb_line>(database_.url());
    connection->execute("begin");
    connection->rows("select 1 from " + in_backticks(table) + " for update");
    return connection;
  }
  void lock_and_commit(const lock_key& key) override {
    ::soci::session session{database_.target()};
    EXPECT_TRUE(with_row_lock<soci_transaction>(session, key, [](soci_transaction&) {}).acquired());
  }
  void commit_optimistically(const lock_key& key) override {
    ::soci::session session{database_.target()};
    EXPECT_TRUE(with_optimistic_commit<soci_transaction>(session, key, [](soci_transaction&) {
                }).acquired());
  }

 private:
  static std::string in_backticks(std::string sql) {
    std::replace(sql.begin(), sql.end(), '"', '`');
    return sql;
  }

  mysql_database database_;
};

/// Signals that `process` has blocked, from the kernel's own account of it.
std::uint64_t blocked_signals(pid_t process) {
  std::ifstream status{"/proc/" + std::to_string(process) + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
  }
  return 0;
}

}  // namespace

std::unique_ptr<cli_database> make_mariadb_database() {
  return std::make_unique<mariadb_cli_database>();
}

std::unique_ptr<cli_database> make_sqlite_database() {
  return std::make_unique<sqlite_cli_database>();
}

std::unique_ptr<cli_database> make_postgres_database() {
  return std::make_unique<postgres_cli_database>();
}

words operator+(words left, const words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

result result_of(child_process& ended) {
  result left;
  left.output = ended.read_rest();
  left.code = ended.wait();
  left.errors = ended.errors();
  return left;
}

result run(const words& command) {
  child_process process{command};
  process.close_input();
  return result_of(process);
}

result run_rowlock(const words& arguments) { return run(words{ROWLOCK_COMMAND} + arguments); }

std::string script_with(const std::string& traps) {
  // `wait` cannot miss a signal, as `read` would that comes just before it. A command in the
  // background gets no standard input unless it is redirected. A signal of the terminal that comes
  // before the command ignores it ends the command. When a test is killed the input ends, and so
  // does the command: then `wait` would return at once, for ever.
  return "exec 3<&0; " + traps +
         R"(; (trap "" HUP INT TERM; echo started; exec cat <&3 >/dev/null) &)"
         " while kill -0 $! 2>/dev/null; do wait $!; done";
}

std::string errors_with(const std::string& text, const child_process& process) {
  std::string errors;
  const auto is_said = [&] {
    errors = process.errors();
    return errors.find(text) != std::string::npos;
  };
  await_that(is_said, {}, [&] { return text + ", but: " + errors; });
  return errors;
}

void await_readiness_for(int number, pid_t process) {
  await_that(
      [&] { return (blocked_signals(process) >> static_cast<unsigned>(number - 1) & 1U) != 0; });
}

words CliTest::rowlock(const std::string& subcommand, const words& more) const {
  return words{ROWLOCK_COMMAND, subcommand, database_->url(), "--table", database_->table()} + more;
}

words CliTest::under_lock(const words& command, const words& options) const {
  return rowlock("run",
                 words{"--type", "invoice", "--source", "42"} + options + words{"--"} + command);
}

std::string CliTest::in_table(const std::string& sql) const {
  return table_name{database_->table()}.in(sql);
}

words CliTest::script_under_lock(const std::string& script, const words& options) const {
  return under_lock({"sh", "-c", script}, options);
}

}  // namespace rowlock::tests
