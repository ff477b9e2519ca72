// What a store checks in the table before it uses it, on MariaDB, whatever the session is like.
#include "mysql/table_check.hpp"

#include <array>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "mysql/mysql_table.hpp"
#include "mysql/sql/session.hpp"
#include "support/mariadb_line.hpp"
#include "support/own_mariadb.hpp"

namespace rowlock::tests {
namespace {

class MysqlTableCheck : public mysql_test {
 protected:
  void expect_rejected(const std::string& why) const {
    soci_store rows{target()};
    const auto caught = error_of([&] { (void)rows.read(std::array{key_}); });
    EXPECT_EQ(caught.kind, errc::rejected) << why;
    EXPECT_NE(caught.message().find("table shared_lock " + why), std::string::npos)
        << caught.message();
    EXPECT_NE(caught.message().find("migrate again"), std::string::npos) << caught.message();
  }
  void alter(const std::string& change) const {
    database_.execute("alter table shared_lock " + change);
  }
};

TEST_F(MysqlTableCheck, RefusesAnotherPrimaryKeyAndNamesTheRightOne) {
  for (const auto* change : {"drop primary key", "add primary key (source_id, lock_type)",
                             "drop primary key, add primary key (lock_type, source_id(100))",
                             "drop primary key, add primary key (lock_type, source_id, version)",
                             "drop primary key, add unique (lock_type, source_id)"}) {
    alter(change);
    expect_rejected("has no primary key on (lock_type, source_id)");
  }
}

TEST_F(MysqlTableCheck, SaysOfATableThatIsDroppedDuringTheCheckThatItIsGone) {
  const table_name table{"shared_lock"};
  const auto connected = connect();
  mysql::connection session{*connected};
  detail::rendered_sql dropping{[&](std::string_view text) {
    return text == mysql::sql::shape ? std::string{"drop table shared_lock"}
                                     : mysql::sql::rendered(table, session.flavour(), text);
  }};
  const auto caught = error_of([&] { mysql::check_table(session, dropping, table); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("table shared_lock is gone"), std::string::npos)
      << caught.message();
}

TEST_F(MysqlTableCheck, RefusesAView) {
  database_.execute(
      "rename table shared_lock to real_lock; create view shared_lock as select * from real_lock");
  expect_rejected("is a view");
}

TEST_F(MysqlTableCheck, RefusesATemporaryTableInItsPlace) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  pool.at(0) << "create table its_like like shared_lock";
  pool.at(0) << "create temporary table shared_lock like its_like";
  soci_store rows{pool, {.pool_size = 1}};
  const auto caught = error_of([&] { (void)acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("table shared_lock is a temporary table of this session"),
            std::string::npos)
      << caught.message();
  pool.at(0) << "drop temporary table shared_lock";
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(MysqlTableCheck, RefusesColumnsThatCannotHoldWhatIsWrittenIntoThem) {
  struct change {
    std::string column;
    std::string type;
  };
  for (const auto& [column, type] :
       {change{"version", "bigint unsigned not null"}, change{"version", "double not null"},
        change{"expires_at", "datetime not null"}, change{"expires_at", "timestamp(6) not null"},
        change{"owner", "varchar(33) character set ascii collate ascii_general_ci null"},
        change{"owner", "varchar(16) character set ascii collate ascii_bin null"},
        change{"source_id", "varbinary(255) not null"}, change{"done_until", "date not null"},
        change{"fence_count", "smallint not null"}}) {
    mysql_database other;
    migrate_soci(other.target());
    other.execute("alter table shared_lock modify " + column + " " + type);
    soci_store rows{other.target()};
    const auto caught = error_of([&] { (void)rows.read(std::array{key_}); });
    EXPECT_EQ(caught.kind, errc::rejected) << column << ' ' << type;
    EXPECT_NE(caught.message().find("of column " + column + " than"), std::string::npos)
        << caught.message();
  }
}

TEST_F(MysqlTableCheck, RefusesNullWhereThereIsNoneAndNoNullInTheOwner) {
  alter("modify version bigint null");
  expect_rejected("takes NULL in column version");
  alter(
      "modify version bigint not null, modify owner varchar(33) character set ascii collate "
      "ascii_bin not null default ''");
  expect_rejected("takes no NULL in column owner");
}

TEST_F(MysqlTableCheck, RefusesATableWithoutAColumn) {
  alter("drop column fence_count");
  expect_rejected("has no column fence_count");
}

TEST_F(MysqlTableCheck, OfAMigrationSaysWhatIsWrongWithATableThatItFindsComplete) {
  alter("drop column note");
  expect_rejected("has no column note");
  const auto caught = error_of([&] { migrate_soci(target()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("has no column note"), std::string::npos) << caught.message();
}

TEST_F(MysqlTableCheck, TakesATableThatIsPartitionedByItsKey) {
  alter("partition by key (lock_type, source_id) partitions 4");
  soci_store rows{target()};
  const auto granted = acquire(rows, key_);
  EXPECT_EQ(granted.status, acquire_status::granted);
  EXPECT_EQ(rows.acquire(std::array{request(other_key_)}, {acquire_mode::all_or_none}).at(0).status,
            acquire_status::granted);
  EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
}

TEST_F(MysqlTableCheck, SeesThePrimaryKeyWhateverTheLengthOfLists) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  pool.at(0) << "set group_concat_max_len = 4";
  soci_store rows{pool, {.pool_size = 1}};
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST(MysqlSelectLimit, OfTheServerHidesNeitherColumnsNorRows) {
  const own_mariadb server;
  mariadb_line{server.url()}.execute("set global sql_select_limit = 1");
  const auto target = database_url{server.url()}.target();
  migrate_soci(target);
  migrate_soci(target);
  soci_store rows{target};
  const auto mine = make_owner_id();
  std::vector<acquire_request> wanted;
  for (const auto* id : {"1", "2", "3"}) {
    wanted.push_back({.key = {"job", id}, .owner = mine, .holder = "h", .ttl = 1h});
  }
  for (const auto& answer : rows.acquire(wanted)) {
    EXPECT_EQ(answer.status, acquire_status::granted);
  }
  EXPECT_EQ(rows.list().size(), 3U);
}

TEST(MysqlSelectLimit, OfASessionKeepsNoRowsFromBeingLocked) {
  mysql_database database;
  migrate_soci(database.target());
  soci_store rows{database.target()};
  const std::array keys{lock_key{"job", "1"}, lock_key{"job", "2"}};
  rows.read(keys, read_mode::ready_to_commit);
  ::soci::session session{database.target()};
  session << "set sql_select_limit = 1";
  soci_transaction work{session};
  const auto locked = lock_rows(work, {keys[0], keys[1]}, no_wait());
  ASSERT_TRUE(locked.acquired());
  EXPECT_EQ(locked->rows.size(), 2U);
  work.commit();
}

}  // namespace
}  // namespace rowlock::tests
