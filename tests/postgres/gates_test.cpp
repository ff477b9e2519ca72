// Creating missing rows in transactions of the application: how many of the server's locks it
// takes.
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "postgres/postgres_transaction.hpp"

namespace rowlock::tests {
namespace {

class PostgresGates : public PostgresTransaction {
 protected:
  /// `count` keys that no process has had yet.
  static std::vector<lock_key> fresh(int count, const std::string& type = "fresh") {
    std::vector<lock_key> keys;
    const auto prefix = make_owner_id().text + "-";
    for (int i = 0; i < count; ++i) keys.push_back({type, prefix + std::to_string(i)});
    return keys;
  }

  int gates_held_by(const open_work& open) {
    return server_.value<int>(
        "select count(*) from pg_locks where locktype = 'advisory' and pid = " +
        std::to_string(open.connection.backendpid()));
  }
};

TEST_F(PostgresGates, OfAThousandMissingKeysAreAFew) {
  open_work open;
  const auto locked = lock(open.work, fresh(1000));
  ASSERT_TRUE(locked.acquired());
  EXPECT_EQ(locked->rows.size(), 1000U);
  EXPECT_LE(gates_held_by(open), 16);
  open.work.commit();
}

TEST_F(PostgresGates, OfThirtyTransactionsThatCreateAThousandKeysEachLeaveTheServerItsLocks) {
  std::vector<std::unique_ptr<open_work>> all;
  for (int i = 0; i < 30; ++i) {
    all.push_back(std::make_unique<open_work>());
    ASSERT_TRUE(lock(all.back()->work, fresh(1000)).acquired()) << i;
  }
  EXPECT_LE(server_.value<int>("select count(*) from pg_locks where locktype = 'advisory'"),
            30 * 16);
}

TEST_F(PostgresGates, OfATransactionThatCreatesManyKeysAreNoneAndThoseKeysAreBusyAfterAMoment) {
  const auto keys = fresh(100);
  open_work creator;
  ASSERT_TRUE(lock(creator.work, keys).acquired());
  EXPECT_EQ(acquire(rows_, keys[50]).status, acquire_status::busy);
  const auto several = rows_.acquire(std::array{request(keys[50]), request(keys[51])});
  EXPECT_EQ(several[0].status, acquire_status::busy);
  EXPECT_EQ(several[1].status, acquire_status::busy);
  const auto set =
      rows_.acquire(std::array{request(keys[50]), request(key_)}, {acquire_mode::all_or_none});
  EXPECT_EQ(set[0].status, acquire_status::busy);
  EXPECT_EQ(set[1].status, acquire_status::withheld);
  EXPECT_FALSE(rows_.read(std::array{keys[50]}, read_mode::ready_to_commit)[0]);
  EXPECT_EQ(acquire(rows_, key_).status, acquire_status::granted) << "which is not missing";
  for (const auto& wanted : {lock_keys{keys[50]}, lock_keys{keys}}) {
    open_work open;
    EXPECT_EQ(lock(open.work, wanted).refusal().reason, refusal_reason::busy);
  }
  creator.work.commit();
  EXPECT_EQ(acquire(rows_, keys[50]).status, acquire_status::granted);
}

// One that is in use ends the statement for all of them.
TEST_F(PostgresGates, OfATransactionThatCreatesManyKeysRefuseNoOtherKeyOfACall) {
  const auto keys = fresh(100);
  open_work creator;
  ASSERT_TRUE(lock(creator.work, keys).acquired());
  auto others = fresh(40, keys[0].type);
  others.insert(others.begin() + 20, keys[50]);
  std::vector<acquire_request> requests;
  for (const auto& key : others) requests.push_back(request(key));
  const auto answers = rows_.acquire(requests);
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(answers[i].status, i == 20 ? acquire_status::busy : acquire_status::granted) << i;
  }
  const auto more = fresh(2, keys[0].type);
  const auto any = rows_.acquire(std::array{request(keys[51]), request(more[0]), request(more[1])},
                                 {acquire_mode::any, 1});
  EXPECT_EQ(any[1].status, acquire_status::granted);
  EXPECT_EQ(any[2].status, acquire_status::withheld);
}

// As for another session that makes the table longer: the trigger is such a wait, of 20 ms.
TEST_F(PostgresGates, OfATransactionThatCreatesManyKeysLeaveTheOtherKeysOfACallTheirTime) {
  server_.query("create function " + schema() +
                ".wait() returns trigger language plpgsql as $$ begin if "
                "current_setting('lock_timeout') <> '20ms' then raise 'timeout' using errcode = "
                "'55P03'; end if; return new; end $$");
  server_.query("create trigger waiting before insert on " + name() +
                " for each row when (new.lock_type = 'slow') execute function " + schema() +
                ".wait()");
  const auto keys = fresh(100);
  open_work creator;
  ASSERT_TRUE(lock(creator.work, keys).acquired());
  const auto slow = fresh(2, "slow");
  const auto answers = rows_.acquire(std::array{request(keys[50]), request(slow[0])});
  EXPECT_EQ(answers[0].status, acquire_status::busy);
  EXPECT_EQ(answers[1].status, acquire_status::granted);
  EXPECT_TRUE(rows_.read(std::array{keys[51], slow[1]}, read_mode::ready_to_commit)[1]);
}

// It is no key that is in use.
TEST_F(PostgresGates, BehindALockOfTheWholeTableAreUnavailable) {
  open_work rival;
  rival.work.exec("lock table " + name() + " in share mode");
  auto rows = postgres_store{postgres_url(), {.table = table(), .lock_timeout = 100ms}};
  const auto keys = fresh(3);
  const std::array requests{request(keys[0]), request(keys[1])};
  const std::vector<std::function<void()>> calls{
      [&] { acquire(rows, keys[2]); }, [&] { rows.acquire(requests); },
      [&] { rows.acquire(requests, {acquire_mode::all_or_none}); },
      [&] { rows.read(keys, read_mode::ready_to_commit); },
      [&] {
        open_work open;
        open.work.exec("set local lock_timeout = '100ms'");
        (void)read_version(open.work, keys[2], table());
      }};
  for (const auto& call : calls) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::unavailable);
    EXPECT_NE(caught.message().find("locks the whole table"), std::string::npos)
        << caught.message();
  }
}

TEST_F(PostgresGates, OfManyKeysAreNotLeftToTheVersionThatATransactionReads) {
  const auto keys = fresh(100);
  open_work creator;
  ASSERT_TRUE(lock(creator.work, keys).acquired());
  open_work open;
  open.work.exec("set local lock_timeout = '7s'");
  EXPECT_EQ(read_version(open.work, keys[50], table()).refusal().reason, refusal_reason::busy);
  EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), "7s");
  creator.work.abort();
  EXPECT_TRUE(read_version(open.work, keys[50], table()).acquired());
  EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), "7s");
}

// 30 sets at once of 200 new keys, on a server with as many connections, need 6,000 locks
// otherwise.
TEST_F(PostgresGates, OfStatementsThatCreateManyKeysAreNotHeld) {
  const auto keys = fresh(200);
  server_.query("create function " + schema() +
                ".count_gates() returns trigger language plpgsql as $$ begin perform 1 from "
                "pg_locks where locktype = 'advisory' and pid = pg_backend_pid() offset 16; "
                "if found then raise 'too many'; end if; return new; end $$");
  server_.query("create trigger count_gates after insert on " + name() +
                " for each statement execute function " + schema() + ".count_gates()");
  std::vector<acquire_request> requests;
  for (const auto& key : keys) requests.push_back(request(key));
  for (const auto& each : rows_.acquire(requests)) {
    EXPECT_EQ(each.status, acquire_status::granted);
  }
  EXPECT_TRUE(rows_.read(fresh(200), read_mode::ready_to_commit).back());
}

TEST_F(PostgresGates, OfOthersAreSeenByATransactionThatCreatesManyKeys) {
  const auto keys = fresh(100);
  open_work creator;
  ASSERT_TRUE(lock(creator.work, keys[50]).acquired());
  open_work open;
  EXPECT_EQ(lock(open.work, keys).refusal().reason, refusal_reason::busy);
  creator.work.commit();
  EXPECT_TRUE(lock(open.work, keys).acquired());
}

TEST_F(PostgresGates, OfALeaseThatIsAboutToBeInsertedAreSeenByATransactionThatCreatesManyKeys) {
  const auto keys = fresh(100);
  open_work inserting;
  inserting.work.exec("select pg_advisory_xact_lock(hashtextextended('" + keys[50].source_id +
                      "', hashtextextended('" + keys[50].type + "', '" + name() +
                      "'::regclass::bigint)))");
  open_work open;
  EXPECT_EQ(lock(open.work, keys).refusal().reason, refusal_reason::busy);
  inserting.work.abort();
  EXPECT_TRUE(lock(open.work, keys).acquired());
}

TEST_F(PostgresGates, OfFewMissingKeysRefuseNoOtherKey) {
  const auto keys = fresh(16);
  open_work creator;
  ASSERT_TRUE(lock(creator.work, keys).acquired());
  const auto others = fresh(200);
  std::vector<acquire_request> requests;
  for (const auto& key : others) requests.push_back(request(key));
  const auto answers = rows_.acquire(requests);
  EXPECT_TRUE(std::all_of(answers.begin(), answers.end(), [](const acquire_answer& each) {
    return each.status == acquire_status::granted;
  }));
}

TEST_F(PostgresGates, AreNotLeftBehindBySessionsThatTriedThem) {
  open_work open;
  ASSERT_TRUE(lock(open.work, fresh(100)).acquired());
  ASSERT_TRUE(lock(open.work, key_).acquired());
  ASSERT_EQ(acquire(rows_, fresh(1, "other").front()).status, acquire_status::granted);
  open.work.commit();
  EXPECT_EQ(gates_held_by(open), 0);
}

}  // namespace
}  // namespace rowlock::tests
