// Which sessions and tables a store takes, and what it does to them, on MariaDB.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "mysql/mysql_table.hpp"

namespace rowlock::tests {
namespace {

class MysqlSession : public mysql_test {
 protected:
  /// A store on a pool with one session, to which `prepare` was done before.
  template <class Prepare>
  caught_error refusal_of_pool(const Prepare& prepare) {
    ::soci::connection_pool pool{1};
    prepare(pool.at(0));
    return error_of([&] {
      soci_store rows{pool, {.pool_size = 1}};
      acquire(rows, key_);
    });
  }
  caught_error refusal_of_table() {
    soci_store rows{target()};
    return error_of([&] { acquire(rows, key_); });
  }
};

TEST_F(MysqlSession, OfABackendThatIsNotSupportedIsMisuseAndTheSupportedOnesAreNamed) {
  const auto caught = error_of([] { soci_store{"firebird://password=sesame"}; });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("mysql"), std::string::npos) << caught.message();
  EXPECT_EQ(caught.message().find("sesame"), std::string::npos) << caught.message();
}

TEST_F(MysqlSession, OfThePoolIsUsedWhateverTheCharacterSetOfItsConstants) {
  for (const auto* charset : {"utf16", "latin1"}) {
    ::soci::connection_pool pool{1};
    pool.at(0).open(target());
    pool.at(0) << std::string{"set character_set_connection = "} + charset;
    soci_store rows{pool, {.pool_size = 1}};
    for (int i = 0; i < 3; ++i) {  // as text, then prepared
      const auto granted = acquire(rows, key_);
      ASSERT_EQ(granted.status, acquire_status::granted) << charset;
      EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done) << charset;
      EXPECT_EQ(rows.list({.holder = request(key_).holder}).size(), 1U) << charset;
      EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done) << charset;
    }
    const auto set =
        rows.acquire(std::array{request(key_), request(other_key_)}, {acquire_mode::all_or_none});
    ASSERT_EQ(set.at(1).status, acquire_status::granted) << charset;
    EXPECT_EQ(release(rows, key_, *set.at(0).version), change_answer::done) << charset;
    EXPECT_EQ(release(rows, other_key_, *set.at(1).version), change_answer::done) << charset;
  }
}

TEST_F(MysqlSession, OfAStoreShareStatementsWhere17CallsMeet) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  const soci_store own{target(), {.pool_size = 3}};
  const soci_store over_a_pool{pool, {.pool_size = 3}};
  for (const auto* rows : {&own, &over_a_pool}) {
    EXPECT_EQ(rows->limits().batching_pays_from, 17);
    EXPECT_EQ(rows->limits().statements_at_once, 3);
  }
}

// A KILL QUERY that hits the ROLLBACK of a store's transaction leaves it open.
TEST_F(MysqlSession, LeftInATransactionIsNotUsedAgain) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  soci_store rows{pool, {.pool_size = 1}};
  release(rows, key_, *acquire(rows, key_).version);
  pool.at(0) << "start transaction";
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(number("select count(*) from shared_lock where owner is not null"), 1)
      << "granted in a transaction that is not committed";
}

TEST_F(MysqlSession, NoticesAServerThatIsGoneWhileItIsIdle) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  soci_store rows{pool, {.pool_size = 1}};
  (void)rows.list();
  auto* const opened = static_cast<::soci::mysql_session_backend*>(pool.at(0).get_backend());
  const int socket = static_cast<int>(mysql_get_socket(opened->conn_));
  const auto value_of = [socket](int level, int option) {
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(socket, level, option, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(value_of(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(value_of(IPPROTO_TCP, TCP_KEEPIDLE), 30);
  EXPECT_EQ(value_of(IPPROTO_TCP, TCP_USER_TIMEOUT), 10'000);
}

// SOCI asks the server whether a session is connected, and waits for the answer without a limit.
TEST_F(MysqlSession, OfThePoolThatIsSuspectIsLostWithoutAskingIt) {
  ::soci::connection_pool pool{3};
  for (std::size_t i = 0; i < 3; ++i) pool.at(i).open(target());
  soci_store rows{pool, {.pool_size = 3, .lock_timeout = 1min}};
  const auto number_of = [&](std::size_t place) {
    long long id = 0;
    pool.at(place) << "select connection_id()", ::soci::into(id);
    return std::to_string(id);
  };
  const auto first = number_of(0);
  const auto second = number_of(1);
  const auto blocked = [&](const std::string& condition) {
    return number(
        "select count(*) from information_schema.processlist where state like "
        "'Waiting for table%metadata lock' and id in (" +
        first + ", " + second + ")" + condition);
  };
  const auto list = [&] { return rows.list().size(); };
  const auto with_table_locked = [&](const auto& work) {
    const auto rival = connect();
    *rival << "lock tables shared_lock write";
    work(*rival);
  };
  (void)list();
  with_table_locked([&](::soci::session& rival) {
    auto one = std::async(std::launch::async, list);
    auto two = std::async(std::launch::async, list);
    EXPECT_TRUE(comes([&] { return blocked("") == 2; }));
    rival << "unlock tables";
  });
  with_table_locked([&](::soci::session& /*rival*/) {
    auto lost = std::async(std::launch::async, list);
    EXPECT_TRUE(comes([&] { return blocked(" and id = " + first) == 1; }));
    database_.execute("kill " + first);
    EXPECT_EQ(error_of([&] { (void)lost.get(); }).kind, errc::unavailable);
  });
  EXPECT_EQ(list(), 0U);
  EXPECT_TRUE(comes([&] {
    return number("select count(*) from information_schema.processlist where id in (" + first +
                  ", " + second + ")") == 0;
  }));
}

TEST_F(MysqlSession, WithoutABackendIsMisuseThatDoesNotShowTheString) {
  for (const auto* text : {"password=sesame", "pass sesame://x", "://sesame", ""}) {
    const auto caught = error_of([&] { soci_store{text}; });
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_EQ(caught.message().find("sesame"), std::string::npos) << caught.message();
  }
}

TEST_F(MysqlSession, IsOpenedByAUrlAsWellAsByWhatSociReads) {
  for (const auto& url : {database_.url(), "mariadb" + database_.url().substr(5),
                          database_.url() + "?charset=utf8mb4", target()}) {
    migrate_soci(url);
    EXPECT_EQ(soci_migrations(url).size(), 1U);
    soci_store rows{url};
    EXPECT_EQ(release(rows, key_, *acquire(rows, key_).version), change_answer::done);
    ::soci::session session{soci_connection_string(url)};
    session << "do 0";
  }
  EXPECT_EQ(error_of([] { soci_store{"mysql://app:sesame@db:x/shop"}; }).kind, errc::misuse);
}

TEST_F(MysqlSession, ThatReconnectsByItselfIsMisuse) {
  EXPECT_EQ(error_of([&] { soci_store{target() + " reconnect=1"}; }).kind, errc::misuse);
  const auto caught =
      refusal_of_pool([&](auto& session) { session.open(target() + " reconnect=1"); });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("reconnect=1"), std::string::npos);
}

TEST_F(MysqlSession, WithAutocommitOffGrantsForOthersToSee) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  pool.at(0) << "set autocommit = 0";
  soci_store rows{pool, {.pool_size = 1}};
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(number("select count(*) from shared_lock where owner is not null"), 1);
}

TEST_F(MysqlSession, InATransactionIsMisuse) {
  const auto caught = refusal_of_pool([&](auto& session) {
    session.open(target());
    session.begin();
  });
  EXPECT_EQ(caught.kind, errc::misuse);
}

TEST_F(MysqlSession, ThatIsNotOpenIsMisuse) {
  EXPECT_EQ(refusal_of_pool([](auto&) {}).kind, errc::misuse);
}

TEST_F(MysqlSession, OfThePoolIsMadeStrictAndReadCommitted) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  pool.at(0) << "set sql_mode = '', tx_isolation = 'SERIALIZABLE'";
  {
    soci_store rows{pool, {.pool_size = 1}};
    EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  }
  EXPECT_NE(setting(pool.at(0), "sql_mode").find("STRICT"), std::string::npos);
  EXPECT_EQ(setting(pool.at(0), "tx_isolation"), "READ-COMMITTED");
  EXPECT_EQ(setting(pool.at(0), "innodb_lock_wait_timeout"), "0");
}

TEST_F(MysqlSession, OfThePoolIsGivenBackWithTheStore) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  {
    soci_store rows{pool, {.pool_size = 1}};
    acquire(rows, key_);
    std::size_t place = 0;
    EXPECT_FALSE(pool.try_lease(place, 0));
  }
  std::size_t place = 0;
  EXPECT_TRUE(pool.try_lease(place, 0));
  pool.give_back(place);
}

TEST_F(MysqlSession, ThatTheServerClosedIsReplaced) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  soci_store rows{pool, {.pool_size = 1}};
  const auto granted = acquire(rows, key_);
  long long id = 0;
  pool.at(0) << "select connection_id()", ::soci::into(id);
  database_.execute("kill " + std::to_string(id));
  EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
}

TEST_F(MysqlSession, OfAPoolThatIsTooSmallIsUnavailable) {
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  std::size_t taken = pool.lease();
  soci_store rows{pool, {.pool_timeout = 10ms}};
  EXPECT_EQ(error_of([&] { acquire(rows, key_); }).kind, errc::unavailable);
  pool.give_back(taken);
}

TEST_F(MysqlSession, WithAnImpossibleSkewOrLimitIsMisuse) {
  EXPECT_EQ(error_of([&] { soci_store{target(), {.clock_skew = -1ms}}; }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { soci_store{target(), {.clock_skew = 61s}}; }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { soci_store{target(), {.statement_timeout = 0ms}}; }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { soci_store{target(), {.pool_size = 0}}; }).kind, errc::misuse);
}

TEST_F(MysqlSession, TakesALeaseOverOnlyWhenItRanOutLongerAgoThanClocksMayDiffer) {
  soci_store careful{target(), {.clock_skew = 30s}};
  acquire(rows_, key_);
  run_out(key_);
  const acquire_request theirs{
      .key = key_, .owner = make_owner_id(), .holder = "host:2", .ttl = 1h};
  const auto refused = careful.acquire(std::array{theirs}).front();
  EXPECT_EQ(refused.status, acquire_status::held);
  EXPECT_GT(refused.remaining.value(), 20s);
  EXPECT_TRUE(careful.read(std::array{key_}, read_mode::ready_to_commit).front().value().owned);

  database_.execute("update shared_lock set expires_at = utc_timestamp(6) - interval 31 second");
  const auto taken = careful.acquire(std::array{theirs}).front();
  EXPECT_EQ(taken.status, acquire_status::granted);
  EXPECT_TRUE(taken.took_over_expired);
}

TEST_F(MysqlSession, OpensAClosedRowOnlyWhenItsTimeWasOverLongerAgoThanClocksMayDiffer) {
  soci_store careful{target(), {.clock_skew = 30s}};
  const release_request closing{
      .key = key_, .owner = mine_, .version = *acquire(rows_, key_).version, .stay_closed = 1h};
  ASSERT_EQ(rows_.release(std::array{closing}).front(), change_answer::done);
  run_out(key_);
  const auto refused = acquire(careful, key_);
  EXPECT_EQ(refused.status, acquire_status::held);
  EXPECT_GT(refused.remaining.value(), 20s);
  const auto all =
      careful.acquire(std::array{request(key_), request(other_key_)}, {acquire_mode::all_or_none});
  EXPECT_EQ(all[0].status, acquire_status::held);
  EXPECT_EQ(all[1].status, acquire_status::withheld);
  EXPECT_EQ(careful.acquire(std::array{request(key_)}, {acquire_mode::any, 1}).front().status,
            acquire_status::withheld);

  database_.execute("update shared_lock set expires_at = utc_timestamp(6) - interval 31 second");
  EXPECT_EQ(acquire(careful, key_).status, acquire_status::granted);
}

TEST_F(MysqlSession, OnATableOfAnotherEngineIsRejected) {
  for (const auto* engine : {"MyISAM", "Aria"}) {
    database_.execute(std::string{"alter table shared_lock engine = "} + engine);
    const auto caught = refusal_of_table();
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("InnoDB"), std::string::npos) << caught.message();
  }
}

TEST_F(MysqlSession, OnATableWithOtherColumnsIsRejected) {
  for (const auto* change :
       {"modify source_id varchar(255) collate utf8mb4_general_ci not null",
        "modify source_id varbinary(256) not null, modify lock_type varchar(135) "
        "character set ascii collate ascii_general_ci not null",
        "modify lock_type varchar(20) character set ascii collate ascii_bin not null",
        "modify lock_type varchar(135) character set ascii collate ascii_bin not null, "
        "modify version int not null"}) {
    database_.execute(std::string{"alter table shared_lock "} + change);
    EXPECT_EQ(refusal_of_table().kind, errc::rejected) << change;
  }
}

TEST_F(MysqlSession, OnATableThatIsMissingOrNewerIsRejectedWithWhatToDo) {
  database_.execute("insert into shared_lock_schema (number, name) values (99, 'later')");
  EXPECT_NE(refusal_of_table().message().find("newer"), std::string::npos);
  database_.execute("drop table shared_lock, shared_lock_schema");
  const auto caught = refusal_of_table();
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("rowlock migrate"), std::string::npos) << caught.message();
}

TEST_F(MysqlSession, OnATableThatSomebodyLocksIsUnavailableAndSaysWhy) {
  create(key_);
  soci_store rows{target(), {.lock_timeout = 1s}};
  (void)rows.read(std::array{key_});
  const auto rival = connect();
  *rival << "lock tables shared_lock write";
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("ALTER TABLE"), std::string::npos) << caught.message();
  *rival << "unlock tables";
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(MysqlSession, DoesNotMigrateATableThatIsNotRowlocks) {
  database_.execute(
      "drop table shared_lock, shared_lock_schema; create table shared_lock (note text)");
  for (const auto& caught : {error_of([&] { migrate_soci(target()); }), refusal_of_table()}) {
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("has no record of rowlock's migrations"), std::string::npos)
        << caught.message();
  }
  EXPECT_EQ(number("select count(*) from information_schema.tables where table_schema = '" +
                   database_.name() + "'"),
            1);
}

TEST_F(MysqlSession, ContinuesAMigrationThatWasInterrupted) {
  acquire(rows_, key_);
  database_.execute("drop table shared_lock_schema");
  EXPECT_EQ(migrate_soci(target()).size(), 1);
  EXPECT_EQ(migrate_soci(target()).size(), 0);
  EXPECT_EQ(number("select count(*) from shared_lock"), 1);
}

TEST_F(MysqlSession, OnATableWithoutItsPrimaryKeyIsRejected) {
  for (const auto* change : {"drop primary key", "add primary key (lock_type, source_id, version)",
                             "drop primary key, add primary key (lock_type, source_id(100))"}) {
    database_.execute(std::string{"alter table shared_lock "} + change);
    const auto caught = refusal_of_table();
    EXPECT_EQ(caught.kind, errc::rejected) << change;
    EXPECT_NE(caught.message().find("primary key"), std::string::npos) << caught.message();
  }
}

TEST_F(MysqlSession, OfAPoolGrantsForOthersToSeeWhateverItsSettings) {
  const auto held = rows_.acquire(std::array{request(key_)}).front();
  ASSERT_EQ(held.status, acquire_status::granted);
  ::soci::connection_pool pool{1};
  pool.at(0).open(target());
  pool.at(0)
      << "set completion_type = 1, timestamp = unix_timestamp() + 7200, sql_select_limit = 1";
  soci_store rows{pool, {.pool_size = 1}};
  const auto theirs = make_owner_id();
  std::vector<acquire_request> requests{request(other_key_), request({"invoice", "44"}),
                                        request(key_)};
  for (auto& each : requests) each.owner = theirs;
  const auto answers = rows.acquire(requests);
  EXPECT_EQ(answers.at(0).status, acquire_status::granted);
  EXPECT_EQ(answers.at(1).status, acquire_status::granted);
  EXPECT_EQ(answers.at(2).status, acquire_status::held) << "by its clock the lease has run out";
  EXPECT_EQ(rows_.list().size(), 3);
}

}  // namespace
}  // namespace rowlock::tests
