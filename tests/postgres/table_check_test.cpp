// A table that is not as its migrations make it.
#include "postgres/table_check.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "postgres/pqxx/transaction.hpp"
#include "postgres/sql/spelling.hpp"
#include "rowlock/postgres.hpp"
#include "soci/soci_postgres_table.hpp"

namespace rowlock::tests {
namespace {

/// By libpqxx, and by SOCI.
class PostgresTableCheck : public soci_postgres_table,
                           public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] std::unique_ptr<store> open() const {
    if (std::string{GetParam()} == "libpqxx") {
      return std::make_unique<postgres_store>(postgres_url(), postgres_options{.table = table()});
    }
    return std::make_unique<soci_store>(soci_url(), soci_options{.table = table()});
  }

  void change(const std::string& sql) { server_.query(table().in(sql)); }

  /// What a store says at its first call.
  caught_error refusal() {
    return error_of([&] { (void)open()->list(); });
  }
  void expect_refusal(const std::string& sql, const std::string& words) {
    change(sql);
    const auto caught = refusal();
    EXPECT_EQ(caught.kind, errc::rejected) << sql;
    EXPECT_NE(caught.message().find(name()), std::string::npos) << caught.message();
    EXPECT_NE(caught.message().find(words), std::string::npos) << caught.message();
  }

  /// The same table, in `parts` by hash, in the place of the one that was migrated.
  void partition(int parts) {
    change(
        "ALTER TABLE shared_lock RENAME TO plain;"
        "CREATE TABLE shared_lock (LIKE " +
        schema() +
        ".plain INCLUDING DEFAULTS, PRIMARY KEY (lock_type, source_id)) PARTITION BY HASH "
        "(lock_type, source_id)");
    for (int part = 0; part < parts; ++part) {
      change("CREATE TABLE shared_lock_part" + std::to_string(part) +
             " PARTITION OF shared_lock FOR VALUES WITH (MODULUS " + std::to_string(parts) +
             ", REMAINDER " + std::to_string(part) + ")");
    }
  }
  void lose_the_primary_key() {
    server_.query("alter table " + name() + " drop constraint " + primary_key());
  }
  std::string primary_key() {
    return server_.value<std::string>(
        "select conname from pg_constraint where contype = 'p'"
        " and conrelid = '" +
        name() + "'::regclass");
  }
  void insert_twice(const lock_key& key) {
    for (int i = 0; i < 2; ++i) {
      change("INSERT INTO shared_lock (lock_type, source_id, version) VALUES ('" + key.type +
             "', '" + key.source_id + "', " + std::to_string(i + 1) + ")");
    }
  }

  [[nodiscard]] std::vector<acquire_request> requests(int count) const {
    std::vector<acquire_request> wanted;
    for (int i = 0; i < count; ++i) {
      wanted.push_back(request({.type = "part", .source_id = std::to_string(i)}));
      wanted.back().owner = make_owner_id();
    }
    return wanted;
  }
};

INSTANTIATE_TEST_SUITE_P(By, PostgresTableCheck, testing::Values("libpqxx", "soci"),
                         [](const auto& by) { return std::string{by.param}; });

TEST_P(PostgresTableCheck, TakesTheTableOfTheMigrations) {
  EXPECT_TRUE(open()->list().empty());
  change("ALTER TABLE shared_lock ADD remark text, ADD CHECK (length(remark) < 10)");
  change("CREATE INDEX ON shared_lock (holder)");
  EXPECT_TRUE(open()->list().empty()) << "what is added is the owner's business";
}

// Both change how PostgreSQL writes the key down, not what it is.
TEST_P(PostgresTableCheck, TakesThePrimaryKeyHoweverItIsWritten) {
  lose_the_primary_key();
  change("ALTER TABLE shared_lock ADD PRIMARY KEY (lock_type, source_id) INCLUDE (version)");
  EXPECT_TRUE(open()->list().empty());
  test_role role{server_};
  server_.query("alter role " + role.name() + " superuser");
  server_.query("alter role " + role.name() + " set quote_all_identifiers = on");
  postgres_store rows{role.url(), {.table = table()}};
  EXPECT_TRUE(rows.list().empty());
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_P(PostgresTableCheck, RefusesAPartitionedTable) {
  partition(2);
  const auto caught = refusal();
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("is partitioned, not an ordinary table"), std::string::npos)
      << caught.message();
}

TEST_P(PostgresTableCheck, RefusesAViewAndATableWithHeirs) {
  expect_refusal("CREATE TABLE shared_lock_heir () INHERITS (shared_lock)", "inherit from it");
  change("DROP TABLE shared_lock_heir; ALTER TABLE shared_lock RENAME TO plain");
  expect_refusal("CREATE VIEW shared_lock AS SELECT * FROM " + schema() + ".plain", "a view");
}

TEST_P(PostgresTableCheck, RefusesATableWithoutItsPrimaryKey) {
  const std::string words = "lacks the primary key (lock_type, source_id)";
  lose_the_primary_key();
  const auto caught = refusal();
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find(words), std::string::npos) << caught.message();
  EXPECT_NE(caught.message().find("ADD PRIMARY KEY"), std::string::npos) << caught.message();
  expect_refusal("ALTER TABLE shared_lock ADD PRIMARY KEY (lock_type, source_id, version)", words);
  lose_the_primary_key();
  expect_refusal("ALTER TABLE shared_lock ADD PRIMARY KEY (lock_type, source_id) DEFERRABLE",
                 words);
  lose_the_primary_key();
  change("ALTER TABLE shared_lock ADD PRIMARY KEY (lock_type, source_id)");
  EXPECT_TRUE(open()->list().empty());
}

TEST_P(PostgresTableCheck, RefusesColumnsOfAnotherTypeCollationNullabilityOrRule) {
  for (const auto& [column, sql] : std::vector<std::pair<std::string, std::string>>{
           {"expires_at",
            "ALTER COLUMN expires_at DROP DEFAULT, ALTER COLUMN expires_at TYPE "
            "timestamp"},
           {"version", "ALTER COLUMN version TYPE numeric"},
           {"source_id", "ALTER COLUMN source_id TYPE text COLLATE \"C\""},
           {"lock_type", "ALTER COLUMN lock_type TYPE shared_lock_type COLLATE \"POSIX\""},
           {"waiting_until", "ALTER COLUMN waiting_until DROP NOT NULL"},
           {"note", "DROP COLUMN note"}}) {
    const postgres_schema another;
    migrate_postgres(postgres_url(), another.table());
    server_.query(another.table().in("ALTER TABLE shared_lock " + sql));
    const auto caught = error_of([&] {
      (void)postgres_store{postgres_url(), {.table = another.table()}}.list();
    });
    EXPECT_EQ(caught.kind, errc::rejected) << sql;
    EXPECT_NE(caught.message().find("domain): " + column + ": while no process uses it"),
              std::string::npos)
        << caught.message();
  }
  expect_refusal("ALTER DOMAIN shared_lock_note DROP CONSTRAINT has_at_most_1024_bytes", "note");
}

TEST_P(PostgresTableCheck, RefusesATableWhoseStatementsAreRewritten) {
  expect_refusal("CREATE RULE quiet AS ON DELETE TO shared_lock DO INSTEAD NOTHING", "CREATE RULE");
}

TEST_P(PostgresTableCheck, AMigrationSaysItToo) {
  lose_the_primary_key();
  const auto caught = error_of([&] { migrate_postgres(postgres_url(), table()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("ADD PRIMARY KEY"), std::string::npos) << caught.message();
}

TEST_P(PostgresTableCheck, WithoutTheRecordOfItsMigrationsSaysToMigrateWhichRestoresIt) {
  for (const std::string lost : {"DROP TABLE shared_lock_schema", "DELETE FROM shared_lock_schema",
                                 "TRUNCATE shared_lock_schema"}) {
    (void)open()->acquire(requests(1));
    change(lost);
    const auto caught = refusal();
    EXPECT_EQ(caught.kind, errc::rejected) << lost;
    EXPECT_NE(caught.message().find("is gone or empty: run `rowlock migrate <URL> --table"),
              std::string::npos)
        << caught.message();
    EXPECT_EQ(migrate_postgres(postgres_url(), table()).size(), 1U) << lost;
    EXPECT_EQ(server_.value<std::string>("select name from " + name() + "_schema"),
              "001_shared_lock");
    EXPECT_EQ(open()->list().size(), 1U) << lost;
    EXPECT_TRUE(migrate_postgres(postgres_url(), table()).empty());
  }
  change("DROP TABLE shared_lock; DELETE FROM shared_lock_schema");
  const auto caught = refusal();
  EXPECT_NE(caught.message().find("run `DROP TABLE "), std::string::npos) << caught.message();
}

TEST_P(PostgresTableCheck, OfAnotherProgramIsNamedAndLeftAsItIs) {
  change("DROP TABLE shared_lock_schema; ALTER TABLE shared_lock DROP COLUMN note");
  for (const auto& caught :
       {refusal(), error_of([&] { migrate_postgres(postgres_url(), table()); })}) {
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("has no record of rowlock's migrations"), std::string::npos)
        << caught.message();
    EXPECT_NE(caught.message().find("--down <URL> --table " + name()), std::string::npos)
        << caught.message();
  }
}

// A crash of the server empties it.
TEST_P(PostgresTableCheck, AnUnloggedTableIsRefused) {
  expect_refusal("ALTER TABLE shared_lock SET UNLOGGED", "SET LOGGED");
  change("ALTER TABLE shared_lock SET LOGGED");
  EXPECT_NO_THROW((void)open()->list());
}

// The same ctid is in each partition. Of a store that has checked before.
TEST_P(PostgresTableCheck, OfAPartitionedTableThatCameLaterEachKeyHasOneHolder) {
  const auto rows = open();
  (void)rows->list();
  partition(2);
  const auto first = requests(12);
  EXPECT_EQ(rows->acquire(first).size(), 12U);
  auto granted = rows->acquire(requests(12), {acquire_mode::all_or_none});
  EXPECT_EQ(std::count_if(granted.begin(), granted.end(),
                          [](const auto& each) { return each.status == acquire_status::granted; }),
            0);
  for (const auto& each : first) {
    auto another = each;
    another.owner = make_owner_id();
    EXPECT_EQ(rows->acquire(std::array{another}).front().status, acquire_status::held);
    EXPECT_EQ(rows->read(std::array{each.key}).front()->holder, each.holder);
  }
  // A statement about one key changes no other row.
  std::vector<renew_request> renewals;
  for (const auto& each : first) {
    const auto seen = rows->read(std::array{each.key}).front();
    ASSERT_TRUE(seen->is_live()) << each.key.source_id;
    renewals.push_back({each.key, each.owner, seen->version, 1h});
  }
  for (std::size_t i = 0; i < renewals.size(); ++i) {
    const auto& each = renewals[i];
    ASSERT_EQ(
        rows->release(std::array{release_request{each.key, each.owner, each.version}}).front(),
        change_answer::done);
    for (std::size_t later = i + 1; later < renewals.size(); ++later) {
      EXPECT_EQ(rows->renew(std::array{renewals[later]}).front(), change_answer::done);
    }
  }
  // Nor does one about several.
  const auto owned = [&] {
    return server_.value<int>("select count(*) from " + name() + " where owner is not null");
  };
  for (std::size_t i = 0; i + 1 < first.size(); i += 2) {
    const std::array both{first[i], first[i + 1]};
    rows->acquire(both);
    EXPECT_EQ(owned(), 2);
    rows->acquire(both, {acquire_mode::all_or_none});
    EXPECT_EQ(owned(), 2);
    for (const auto& each : both) {
      const auto seen = rows->read(std::array{each.key}).front();
      rows->release(std::array{release_request{each.key, each.owner, seen->version}});
    }
  }
}

TEST_P(PostgresTableCheck, TwoRowsOfAKeyThatCameLaterAreAFault) {
  const auto rows = open();
  const std::array both{request(key_), request(other_key_)};
  (void)rows->acquire(both);
  for (int i = 0; i < 20; ++i) {  // so that plans are kept
    std::vector<release_request> held;
    for (const auto& answer : rows->acquire(both)) {
      held.push_back({both.at(held.size()).key, mine_, *answer.version});
    }
    rows->release(held);
    const auto granted = acquire(*rows, key_);
    rows->release(std::array{release_request{key_, mine_, *granted.version}});
  }
  lose_the_primary_key();
  change("DELETE FROM shared_lock");
  insert_twice(key_);
  insert_twice(other_key_);
  const std::string answered_twice = "more than one row for a key";
  for (const auto& [call, words] : std::vector<std::pair<std::function<void()>, std::string>>{
           {[&] { (void)rows->read(std::array{key_}); }, answered_twice},
           {[&] { (void)acquire(*rows, key_); }, answered_twice},
           {[&] { (void)rows->acquire(both); }, answered_twice},
           {[&] { (void)rows->acquire(both, {acquire_mode::all_or_none}); }, answered_twice},
           {[&] {
              (void)rows->acquire(both, {acquire_mode::any, 2});
            },
            answered_twice}}) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find(words), std::string::npos) << caught.message();
    change(
        "UPDATE shared_lock SET owner = NULL, holder = NULL, acquired_at = NULL, "
        "expires_at = 'epoch'");
  }
  change("UPDATE shared_lock SET version = 7, owner = '" + mine_.text +
         "', expires_at = now() + interval '1 hour'");
  const auto caught = error_of([&] { (void)renew(*rows, key_, {7}); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("lacks the primary key"), std::string::npos) << caught.message();
}

// The inserts name the key, too: that of one key, which comes first after a key that was new, and
// that of several.
TEST_P(PostgresTableCheck, ARowIsCreatedOnlyWhereThePrimaryKeyGuardsIt) {
  const auto rows = open();
  EXPECT_EQ(acquire(*rows, {"job", "1"}).status, acquire_status::granted);
  EXPECT_EQ(acquire(*rows, {"job", "2"}).status, acquire_status::granted);
  lose_the_primary_key();
  for (const auto mode : {acquire_mode::each, acquire_mode::any}) {
    const auto caught = error_of([&] {
      (void)rows->acquire(std::array{request({"job", "3"})}, {mode, 1});
    });
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("primary key (lock_type, source_id)"), std::string::npos)
        << caught.message();
  }
}

class PostgresTableDropped : public postgres_table {};

TEST_F(PostgresTableDropped, DuringTheCheckIsToldAsGone) {
  server_.query("CREATE FUNCTION " + schema() + ".drop_it() RETURNS text LANGUAGE plpgsql AS " +
                "'BEGIN DROP TABLE " + name() + "; RETURN ''owner''; END'");
  const std::string last = "AS unlike_columns";
  detail::rendered_sql dropping{[&](std::string_view text) {
    auto rendered = postgres::sql::rendered({table()}, text);
    if (const auto found = rendered.rfind(last); found != std::string::npos) {
      rendered.replace(
          found, last.size(),
          "AS unlike, CASE WHEN f.oid IS NOT NULL THEN " + schema() + ".drop_it() END " + last);
    }
    return rendered;
  }};
  pqxx::connection connected{postgres_url()};
  pqxx::work transaction{connected};
  postgres::pqxx_transaction checking{transaction};
  const auto caught = error_of([&] { postgres::check_table(checking, dropping, table()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find(name() + " is gone"), std::string::npos) << caught.message();
}

}  // namespace
}  // namespace rowlock::tests
