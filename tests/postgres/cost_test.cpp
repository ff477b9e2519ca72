// What the statements cost the server. These tests want it for themselves.
#include <algorithm>
#include <vector>

#include "postgres/postgres_statements.hpp"
#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

class PostgresCost : public postgres_table {
 protected:
  PostgresCost() {
    count_statements();
    server_.query("alter table " + name() + " set (autovacuum_enabled = off)");
  }

  /// Executions of statements about the table since the last call, and their bytes of WAL.
  struct spent {
    std::int64_t statements;
    std::int64_t wal_bytes;
  };
  spent take_spent() {
    const std::string ours = " from pg_stat_statements where query like '%\"" + schema() + "\"%'";
    const auto result = server_.query(
        "select coalesce(sum(calls), 0)::bigint, coalesce(sum(wal_bytes), 0)::bigint" + ours);
    const auto row = result[0];
    const spent now{row[0].as<std::int64_t>(), row[1].as<std::int64_t>()};
    server_.query("select pg_stat_statements_reset(userid, dbid, queryid)" + ours);
    return now;
  }

  static acquire_request request_of_another(const lock_key& key) {
    return {.key = key, .owner = make_owner_id(), .holder = "another", .ttl = 30s};
  }

  std::string next_transaction_id() {
    return server_.value<std::string>("select pg_snapshot_xmax(pg_current_snapshot())::text");
  }

  [[nodiscard]] std::vector<acquire_request> requests_for(int count) const {
    std::vector<acquire_request> requests;
    for (int i = 0; i < count; ++i) requests.push_back(request({"invoice", std::to_string(i)}));
    return requests;
  }
  static std::ptrdiff_t granted_in(const std::vector<acquire_answer>& answers) {
    return std::count_if(answers.begin(), answers.end(), [](const acquire_answer& answer) {
      return answer.status == acquire_status::granted;
    });
  }
  static void create(store& rows, const std::vector<acquire_request>& requests) {
    std::vector<lock_key> keys;
    for (const auto& each : requests) keys.push_back(each.key);
    rows.read(keys, read_mode::ready_to_commit);
  }
};

TEST_F(PostgresCost, AcquireAndReleaseOfAnExistingRowAreOneStatementEach) {
  auto rows = open_store();
  auto granted = acquire(rows, key_);
  for (int i = 0; i < 2; ++i) {  // the second time, the row exists
    release(rows, key_, *granted.version);
    take_spent();
    granted = acquire(rows, key_);
  }
  EXPECT_EQ(take_spent().statements, 1);
  ASSERT_EQ(renew(rows, key_, *granted.version), change_answer::done);
  EXPECT_EQ(take_spent().statements, 1);
  ASSERT_EQ(release(rows, key_, *granted.version), change_answer::done);
  EXPECT_EQ(take_spent().statements, 1);
}

TEST_F(PostgresCost, ABatchIsOneStatement) {
  auto rows = open_store();
  const auto requests = requests_for(200);
  std::vector<release_request> releases;
  for (const auto& answer : rows.acquire(requests)) {
    const auto& wanted = requests[releases.size()];
    releases.push_back({wanted.key, wanted.owner, answer.version.value()});
  }
  rows.release(releases);

  take_spent();
  for (const auto& answer : rows.acquire(requests)) {
    EXPECT_EQ(answer.status, acquire_status::granted);
  }
  EXPECT_EQ(take_spent().statements, 1);
}

TEST_F(PostgresCost, TheRenewalOfTenThousandLeasesIsOneStatement) {
  auto rows = open_store();
  const auto requests = requests_for(10'000);
  create(rows, requests);
  std::vector<renew_request> renewals;
  for (const auto& answer : rows.acquire(requests)) {
    const auto& wanted = requests[renewals.size()];
    renewals.push_back({wanted.key, wanted.owner, answer.version.value(), wanted.ttl});
  }
  take_spent();
  const auto answers = rows.renew(renewals);
  EXPECT_EQ(take_spent().statements, 1);
  EXPECT_EQ(std::count(answers.begin(), answers.end(), change_answer::done), 10'000);
}

TEST_F(PostgresCost, ASetOfExistingRowsIsOneStatementAndSoIsTheSameAttemptOnceMore) {
  auto rows = open_store();
  const auto requests = requests_for(100);
  create(rows, requests);
  take_spent();
  EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::any, 20})), 20);
  EXPECT_EQ(take_spent().statements, 1);
  EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::all_or_none})), 100);
  EXPECT_EQ(take_spent().statements, 1);
  EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::all_or_none})), 100);
  EXPECT_EQ(take_spent().statements, 1);
}

TEST_F(PostgresCost, ASetOfMissingRowsIsFourStatementsAndAnyOfThemTwo) {
  auto rows = open_store();
  rows.list();
  const auto requests = requests_for(100);
  take_spent();
  EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::any, 20})), 20);
  EXPECT_EQ(take_spent().statements, 2);
  EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::all_or_none})), 100);
  EXPECT_EQ(take_spent().statements, 4);
}

TEST_F(PostgresCost, ARefusedSetWritesNothingAndIsTwoStatements) {
  auto rows = open_store();
  const auto requests = requests_for(20);
  create(rows, requests);
  auto rival = requests.back();
  rival.owner = make_owner_id();
  ASSERT_EQ(rows.acquire(std::array{rival})[0].status, acquire_status::granted);
  server_.query("vacuum " + name());
  take_spent();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(granted_in(rows.acquire(requests, {acquire_mode::all_or_none})), 0);
  const auto cost = take_spent();
  EXPECT_EQ(cost.wal_bytes, 0);
  EXPECT_EQ(cost.statements, 2 * 100);
}

// As soon as the server knows how many keys there are it would rather read the whole table.
TEST_F(PostgresCost, SetsFindEveryRowByThePrimaryKey) {
  const std::string counts =
      " from pg_stat_user_tables where relid = '" + table().in("shared_lock") + "'::regclass";
  auto requests = requests_for(1000);
  server_.query("insert into " + name() +
                " (lock_type, source_id, version) select 'invoice', n, 1"
                " from generate_series(0, 9999) n");
  server_.query("vacuum analyze " + name());
  // PostgreSQL 14 receives reports in their order, and later: those of the migration first.
  server_.await("select n_tup_ins >= 10000" + counts);
  const auto before = server_.value<std::int64_t>("select seq_scan" + counts);
  {
    auto rows = open_store();
    EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::any, 900})), 900);
    EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::all_or_none})), 1000);
    for (auto& each : requests) each.key.type = "another";
    EXPECT_EQ(granted_in(rows.acquire(requests, {acquire_mode::any, 500})), 500);
  }
  // A backend reports its counts when it ends.
  server_.await("select n_tup_ins >= 10500" + counts);
  EXPECT_EQ(server_.value<std::int64_t>("select seq_scan" + counts), before);
}

TEST_F(PostgresCost, AMissingRowIsTwoStatementsAndTheNextOneOfItsTypeOne) {
  auto rows = open_store();
  rows.list();
  take_spent();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(take_spent().statements, 2);
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::granted);
  EXPECT_EQ(take_spent().statements, 1);
}

TEST_F(PostgresCost, ARowThatIsNotAsTheLastOnesOfItsTypeIsOneStatementMore) {
  postgres_store rows{postgres_url(), {.table = table(), .pool_size = 1}};
  const auto pair = [&](const lock_key& key) {
    const auto granted = acquire(rows, key);
    ASSERT_EQ(granted.status, acquire_status::granted);
    ASSERT_EQ(release(rows, key, *granted.version), change_answer::done);
  };
  pair(key_);
  take_spent();
  pair(key_);
  EXPECT_EQ(take_spent().statements, 3) << "that of a missing row, and two";
  for (int i = 0; i < 3; ++i) pair(key_);
  take_spent();
  const auto held = acquire(rows, key_);
  EXPECT_EQ(take_spent().statements, 1);
  EXPECT_EQ(rows.acquire(std::array{request_of_another(key_)})[0].status, acquire_status::held);
  EXPECT_EQ(take_spent().statements, 2) << "that of a free row, and one";
  EXPECT_EQ(rows.acquire(std::array{request_of_another(key_)})[0].status, acquire_status::held);
  EXPECT_EQ(take_spent().statements, 1);
  EXPECT_EQ(release(rows, key_, *held.version), change_answer::done);
}

TEST_F(PostgresCost, AfterARefusalTheNextOneIsLookedForFirst) {
  postgres_store rows{postgres_url(), {.table = table(), .pool_size = 1}};
  auto theirs = open_store();
  const auto another = request_of_another(key_);
  const auto held = theirs.acquire(std::array{another}).front();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::held);
  take_spent();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::held);
  EXPECT_EQ(take_spent().statements, 1);
  theirs.release(std::array{release_request{key_, another.owner, *held.version}});
  take_spent();
  const auto granted = acquire(rows, key_);
  EXPECT_EQ(take_spent().statements, 2) << "that of a held row, and one";
  ASSERT_EQ(release(rows, key_, *granted.version), change_answer::done);
  take_spent();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(take_spent().statements, 1);
}

// ON CONFLICT would wait for the transaction.
TEST_F(PostgresCost, ARowThatATransactionHasChangedIsBusyAtOnceAlsoWhereAMissingOneIsExpected) {
  postgres_store rows{postgres_url(), {.table = table(), .pool_size = 1}};
  rows.read(std::array{other_key_}, read_mode::ready_to_commit);
  open_work changing;
  changing.work.exec("update " + name() + " set note = 'changed'" + row(other_key_));
  // At the first busy row a session asks whether the table may lose changes.
  ASSERT_EQ(acquire(rows, other_key_).status, acquire_status::busy);
  ASSERT_EQ(acquire(rows, key_).status, acquire_status::granted);
  take_spent();
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::busy);
  EXPECT_EQ(take_spent().statements, 4);
}

TEST_F(PostgresCost, AThousandRefusalsWriteNothingAndTakeNoTransactionId) {
  auto theirs = open_store();
  ASSERT_EQ(theirs.acquire(std::array{request_of_another(key_)})[0].status,
            acquire_status::granted);
  auto rows = open_store();
  // A row that a transaction has locked as well; that one has its transaction id before we count.
  rows.read(std::array{other_key_}, read_mode::ready_to_commit);
  open_work locking;
  locking.work.exec("select from " + name() + row(other_key_) + " for update");
  // At the first busy row a session asks whether the table may lose changes.
  ASSERT_EQ(acquire(rows, other_key_).status, acquire_status::busy);
  server_.query("vacuum " + name());
  const std::string before = name() + row(key_);
  const auto row_before =
      server_.value<std::string>("select xmin || ',' || xmax || ',' || ctid from " + before);

  // Others may take transaction ids meanwhile; a refusal that did would do it every time.
  bool took_no_id = false;
  for (int attempt = 0; attempt < 20 && !took_no_id; ++attempt) {
    take_spent();
    const auto first = next_transaction_id();
    for (int i = 0; i < 500; ++i) {
      ASSERT_EQ(acquire(rows, key_).status, acquire_status::held);
      ASSERT_EQ(acquire(rows, other_key_).status, acquire_status::busy);
    }
    took_no_id = next_transaction_id() == first;
    const auto cost = take_spent();
    EXPECT_EQ(cost.wal_bytes, 0);
    // A holder is named at once. Then one is expected in vain, and a row that only seems free is
    // read twice.
    EXPECT_EQ(cost.statements, 500 + 4 * 500);
  }
  EXPECT_TRUE(took_no_id);
  EXPECT_EQ(server_.value<std::string>("select xmin || ',' || xmax || ',' || ctid from " + before),
            row_before);
}

// A page can only be pruned, and an update stay in it, if no older snapshot is open in the
// database. A snapshot of another session (an autovacuum of another table) can spoil a round,
// hardly three.
TEST_F(PostgresCost, TwentyThousandPairsAreAllHotAndTheTableStaysSmall) {
  constexpr std::int64_t pairs = 20'000;
  const std::array<lock_key, 4> keys{{{"job", "1"}, {"job", "2"}, {"job", "3"}, {"job", "4"}}};
  const std::string counts =
      " from pg_stat_user_tables where relid = '" + table().in("shared_lock") + "'::regclass";
  std::int64_t not_hot = -1;
  std::int64_t updates = 0;
  for (int round = 0; round < 3 && not_hot != 0; ++round) {
    const auto not_hot_before =
        server_.value<std::int64_t>("select n_tup_upd - n_tup_hot_upd" + counts);
    {
      auto rows = open_store();
      rows.read(keys, read_mode::ready_to_commit);
      for (std::int64_t i = 0; i < pairs; ++i) {
        const auto& key = keys.at(static_cast<std::size_t>(i) % keys.size());
        const auto granted = acquire(rows, key);
        ASSERT_EQ(granted.status, acquire_status::granted);
        ASSERT_EQ(release(rows, key, *granted.version), change_answer::done);
      }
    }
    // The backend of the store reports its counts when it ends.
    updates += 2 * pairs;
    server_.await("select n_tup_upd >= " + std::to_string(updates) + counts);
    EXPECT_EQ(server_.value<std::int64_t>("select n_tup_upd" + counts), updates);
    not_hot =
        server_.value<std::int64_t>("select n_tup_upd - n_tup_hot_upd" + counts) - not_hot_before;
  }
  EXPECT_EQ(not_hot, 0);
  EXPECT_LT(server_.value<std::int64_t>("select pg_total_relation_size('" +
                                        table().in("shared_lock") + "')"),
            1'000'000);
}

TEST_F(PostgresCost, ALockOfAFreeRowIsOneStatementAndOfAnotherOneTwo) {
  auto rows = open_store();
  const lock_key held{"invoice", "held"};
  ASSERT_EQ(acquire(rows, held).status, acquire_status::granted);
  rows.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
  const auto statements_of = [this](const lock_keys& keys) {
    take_spent();
    {
      open_work ours;  // a statement counts when the next one begins, or the session ends
      (void)rowlock::lock_rows(ours.work, keys, no_wait(), table());
      ours.work.abort();
    }
    return take_spent().statements;
  };
  EXPECT_EQ(statements_of(key_), 1);
  EXPECT_EQ(statements_of(held), 2);
  EXPECT_EQ(statements_of(lock_key{"invoice", "new"}), 2);
  EXPECT_EQ(statements_of({key_, other_key_}), 1);
}

TEST_F(PostgresCost, AFenceIsOneStatementAndAReleaseThatRidesWithItSendsNoMore) {
  auto rows = open_store();
  lock_table locks{rows, {.renew = false}};
  pqxx::connection connection{postgres_url()};
  lease held = *locks.try_acquire(key_);
  take_spent();
  run_fenced<pqxx::work>(
      connection, held, [](pqxx::work&) {}, {.release = true}, table());
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(take_spent().statements, 1);
}

}  // namespace
}  // namespace rowlock::tests
