// Which session of PostgreSQL has a row, read without locking the row.
#include <gmock/gmock.h>

#include <string>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class PostgresUsedBy : public postgres_table {
 protected:
  PostgresUsedBy() { release_all(); }

  void release_all() {
    lock_table locks{rows_};
    locks.try_acquire(key_)->release();
    locks.try_acquire(other_key_)->release();
  }
  [[nodiscard]] static std::string named(const std::string& application) {
    const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
    return postgres_url() + separator + "application_name=" + application;
  }
  static std::string pid_of(open_work& open) {
    return "pid " + std::to_string(open.connection.backendpid());
  }
  void lock(open_work& open, const std::string& how = "for update") const {
    open.work.exec("select from " + name() + row(key_) + ' ' + how);
  }
  std::string used_by(const lock_key& key) {
    const auto row = rows_.read(std::array{key}, read_mode::shown).front();
    return row ? row->used_by.value_or("no session") : "no session";
  }

  postgres_store rows_ = open_store();
};

TEST_F(PostgresUsedBy, NamesTheSessionAndSinceWhen) {
  open_work shop{named("shop")};
  lock(shop);
  EXPECT_THAT(
      used_by(key_),
      MatchesRegex(pid_of(shop) + " \\(shop\\), transaction since 20..-..-.. ..:..:.. UTC"));
  EXPECT_EQ(used_by(other_key_), "no session");
}

TEST_F(PostgresUsedBy, NamesTheSessionOfARowLockThatASubtransactionTook) {
  open_work shop{named("shop")};
  ASSERT_TRUE(lock_rows(shop.work, key_, no_wait(), table()).acquired());
  EXPECT_THAT(used_by(key_), StartsWith(pid_of(shop) + " (shop)"));
}

TEST_F(PostgresUsedBy, NamesAllWhereItMayBeOneOfThem) {
  open_work first{named("first")};
  open_work second{named("second")};
  ASSERT_TRUE(lock_rows(first.work, other_key_, no_wait(), table()).acquired());
  ASSERT_TRUE(lock_rows(second.work, key_, no_wait(), table()).acquired());
  EXPECT_THAT(used_by(key_), AllOf(StartsWith("one of these: "), HasSubstr(pid_of(first)),
                                   HasSubstr(pid_of(second))));
}

TEST_F(PostgresUsedBy, NamesAllThatShareTheRow) {
  open_work first{named("first")};
  open_work second{named("second")};
  lock(first, "for share");
  lock(second, "for share");
  EXPECT_THAT(used_by(key_), AllOf(Not(HasSubstr("one of these")), HasSubstr(pid_of(first)),
                                   HasSubstr(pid_of(second))));
  first.work.commit();
  EXPECT_THAT(used_by(key_), AllOf(Not(HasSubstr(pid_of(first))), HasSubstr(pid_of(second))));
  second.work.commit();
  EXPECT_EQ(used_by(key_), "no session");
}

TEST_F(PostgresUsedBy, NamesNobodyForARolledBackLockAndAnUpdate) {
  {
    open_work shop;
    lock(shop);
  }
  EXPECT_EQ(used_by(key_), "no session");
  open_work late;
  late.work.exec("update " + name() + " set note = 'x'" + row(key_));
  late.work.commit();
  EXPECT_EQ(used_by(key_), "no session");
}

TEST_F(PostgresUsedBy, LeavesTheRowAsItIsAndNeedsNoMoreThanSelect) {
  const test_role guest{server_};
  server_.query("grant usage on schema " + schema() + " to " + guest.name());
  server_.query("grant select on all tables in schema " + schema() + " to " + guest.name());
  auto rows = open_store(guest.url());
  open_work shop{named("shop")};
  lock(shop);
  const auto before = server_.value<std::string>("select xmax from " + name() + row(key_));
  const auto shown = show(rows, key_);
  ASSERT_TRUE(shown && shown->used_by);
  EXPECT_EQ(*shown->used_by, pid_of(shop) + " (shop)") << "since when is for roles that may see it";
  EXPECT_EQ(server_.value<std::string>("select xmax from " + name() + row(key_)), before);
}

}  // namespace
}  // namespace rowlock::tests
