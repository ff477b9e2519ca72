// What a store checks in the table of a SQLite file before it uses it.
#include <string>

#include "sqlite/sqlite_files.hpp"
#include "support/documented.hpp"

namespace rowlock::tests {
namespace {

class SqliteTableCheck : public sqlite_test {
 protected:
  /// A file whose migration was another one: with `to` instead of each `from`.
  void migrate_with(const std::string& from, const std::string& to) const {
    const auto up = sqlite_migrations().front().up;
    const auto changed = with_each(up, from, to);
    if (changed == up) throw std::logic_error{"the migration has no " + from};
    SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(changed);
  }
  void expect_rejected(const std::string& why) const {
    sqlite_store rows{path()};
    const auto thrown = error_of([&] { acquire(rows); });
    EXPECT_EQ(thrown.kind(), errc::rejected);
    EXPECT_TRUE(says(thrown, "table shared_lock " + why));
    EXPECT_TRUE(says(thrown, "migrate again"));
  }
};

TEST_F(SqliteTableCheck, RefusesATableWithoutItsPrimaryKey) {
  migrate_with("PRIMARY KEY (lock_type, source_id)", "PRIMARY KEY (lock_type, source_id, version)");
  expect_rejected("has no primary key on (lock_type, source_id)");
}

TEST_F(SqliteTableCheck, RefusesAKeyThatComparesOtherwise) {
  migrate_with("PRIMARY KEY (lock_type, source_id)",
               "PRIMARY KEY (lock_type, source_id COLLATE NOCASE)");
  expect_rejected("has no primary key on (lock_type, source_id)");
}

TEST_F(SqliteTableCheck, RefusesATableThatIsNotStrict) {
  migrate_with("STRICT, WITHOUT ROWID", "WITHOUT ROWID");
  expect_rejected("is not STRICT and WITHOUT ROWID");
}

TEST_F(SqliteTableCheck, RefusesATableWithRowids) {
  migrate_with("STRICT, WITHOUT ROWID", "STRICT");
  expect_rejected("is not STRICT and WITHOUT ROWID");
}

TEST_F(SqliteTableCheck, RefusesColumnsOfAnotherTypeAndWithNull) {
  migrate_with("version       INTEGER NOT NULL", "version       ANY NOT NULL");
  expect_rejected("has another type of column version than INTEGER");
}

TEST_F(SqliteTableCheck, RefusesNullInAColumnThatHasNone) {
  migrate_with("expires_at    TEXT    NOT NULL", "expires_at    TEXT");
  expect_rejected("takes NULL in column expires_at");
}

TEST_F(SqliteTableCheck, RefusesATableWithoutAColumn) {
  migrate_with("done_until", "done_to");
  expect_rejected("has no column done_until");
}

TEST_F(SqliteTableCheck, RefusesATableWithoutAColumnThatOnlyPeopleRead) {
  migrate_sqlite(path());
  open()->exec("ALTER TABLE shared_lock DROP COLUMN failure_count");
  expect_rejected("has no column failure_count");
  EXPECT_TRUE(says(error_of([&] { migrate_sqlite(path()); }), "has no column failure_count"));
}

TEST_F(SqliteTableCheck, RefusesASchemaThatAFileHasNot) {
  const auto thrown = error_of([&] {
    sqlite_store{path(), {.table = table_name{"a.shared_lock"}}};
  });
  EXPECT_EQ(thrown.kind(), errc::misuse);
}

TEST_F(SqliteTableCheck, RefusesAView) {
  migrate_sqlite(path());
  open()->exec(
      "ALTER TABLE shared_lock RENAME TO real_lock; "
      "CREATE VIEW shared_lock AS SELECT * FROM real_lock");
  expect_rejected("is a view");
}

TEST_F(SqliteTableCheck, RefusesATemporaryTableInItsPlaceUnlessTheSchemaIsNamed) {
  migrate_sqlite(path());
  const auto shadowed = [&] {
    auto database = open();
    database->exec(with_each(sqlite_migrations().front().up, "CREATE TABLE", "CREATE TEMP TABLE"));
    return database;
  };
  sqlite_store rows{shadowed};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "is a temporary table of this connection"));
  EXPECT_TRUE(says(thrown, "drop it, or name the table with its schema, main"));

  sqlite_store named{shadowed, {.table = "main.shared_lock"}};
  EXPECT_EQ(acquire(named).status, acquire_status::granted);
  sqlite_store others{path()};
  EXPECT_EQ(others.list().size(), 1U);
}

TEST_F(SqliteTableCheck, TakesTheTableOfTheMigrationAlsoWithACheckTooMany) {
  migrate_with("PRIMARY KEY (lock_type, source_id),",
               "PRIMARY KEY (lock_type, source_id), CHECK (source_id <> 'no'),");
  sqlite_store rows{path()};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
}

TEST_F(SqliteTableCheck, OfAMigrationMakesWhatIsLostAndKeepsWhatIsThere) {
  migrate_sqlite(path());
  sqlite_store rows{path()};
  acquire(rows);
  for (const auto* loss : {"DELETE FROM shared_lock_schema", "DROP TABLE shared_lock_schema"}) {
    open()->exec(loss);
    EXPECT_EQ(migrate_sqlite(path()).size(), 1U) << loss;
    sqlite_store again{path()};
    EXPECT_EQ(again.list().size(), 1U) << loss;
  }
}

TEST_F(SqliteTableCheck, OfAMigrationSaysWhatIsWrongWithATableThatItFindsComplete) {
  migrate_with("STRICT, WITHOUT ROWID", "STRICT");
  const auto thrown = error_of([&] { migrate_sqlite(path()); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "table shared_lock is not STRICT and WITHOUT ROWID"));
}

TEST_F(SqliteTableCheck, OfAMigrationRefusesAnotherTableInTheWayAndChangesNothing) {
  SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      "CREATE TABLE shared_lock (a)");
  const auto thrown = error_of([&] { migrate_sqlite(path()); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "rename it or give rowlock's table another name"));
  sqlite_store rows{path()};
  EXPECT_TRUE(says(error_of([&] { acquire(rows); }), "has no record of rowlock's migrations"));
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_schema"), "1");
}

}  // namespace
}  // namespace rowlock::tests
