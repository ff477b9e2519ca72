// Whatever goes wrong on SQLite, by either driver, no message holds a secret.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rowlock/lock_table.hpp"
#include "rowlock/soci_store.hpp"
#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"
#include "secrets/spoken.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

class SqliteSecrets : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path() / "locks.db"; }
  void execute(const std::string& sql) const {
    SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(sql);
  }

  void expect_unsaid() {
    {
      sqlite_store rows{path()};
      said_.record(rows);
    }
    soci_store rows{"sqlite3://" + path()};
    said_.record(rows);
    said_.expect_no_secret("sqlite3://" + path());
  }

  temp_folder folder_;
  spoken said_;
};

TEST_F(SqliteSecrets, AreUnsaidWhenTheFileIsMissingOrNoDatabase) {
  expect_unsaid();
  std::ofstream{path()} << std::string(4096, 'x');
  expect_unsaid();
}

TEST_F(SqliteSecrets, AreUnsaidWhenTheConnectionStringIsWrong) {
  const auto text = "sqlite3://db=/x key=" + password;
  said_.record_error_of([&] {
    soci_store rows{text};
    (void)rows.list();
  });
  said_.expect_no_secret(text);
}

TEST_F(SqliteSecrets, AreUnsaidWhenTheTableIsMissing) {
  execute("create table other (number integer)");
  expect_unsaid();
}

TEST_F(SqliteSecrets, AreUnsaidWhenATriggerRefusesTheOwner) {
  migrate_sqlite(path());
  execute(
      "create trigger refusing before insert on shared_lock begin "
      "  select raise(abort, 'no owner here'); end");
  expect_unsaid();
}

TEST_F(SqliteSecrets, AreUnsaidWhenTheOwnerIsOfNoUse) {
  migrate_sqlite(path());
  execute(
      "create table owners (id text primary key) strict;"
      "create trigger refusing before insert on shared_lock begin "
      "  insert into owners values (new.owner), (new.owner); end");
  expect_unsaid();
}

TEST_F(SqliteSecrets, AreUnsaidWhenTheLeaseOfAFenceIsLost) {
  migrate_sqlite(path());
  sqlite_store rows{path()};
  lock_table locks{rows};
  const auto held = *locks.try_acquire({.type = "invoice", .source_id = "42"});
  execute("update shared_lock set version = version + 1");
  SQLite::Database its{path(), SQLite::OPEN_READWRITE};
  said_.record_error_of([&] {
    const sqlite_transaction work{its};
    fence(its, held);
  });
  said_.expect_no_secret(path());
}

}  // namespace
}  // namespace rowlock::tests
