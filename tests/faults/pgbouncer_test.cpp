// Through PgBouncer in transaction mode, with two connections for all clients.
#include <atomic>
#include <future>
#include <memory>
#include <optional>

#include "faults/own_server_test.hpp"
#include "rowlock/clock.hpp"
#include "support/own_pgbouncer.hpp"

namespace rowlock::tests {
namespace {

class Pgbouncer : public own_server_test {
 protected:
  static constexpr int pool = 2;

  Pgbouncer() {
    start_with_table();
    pooler_.emplace(server(), pool);
    observer{server().url()}.query("drop table if exists counter");
    observer{server().url()}.query("create table counter (id integer primary key, n integer)");
  }

  static int total() {
    return observer{server().url()}.value<int>("select coalesce(sum(n), 0) from counter");
  }

  /// Keeps one of the pooler's connections until it is destroyed.
  struct taken_connection {
    explicit taken_connection(const std::string& url)
        : open{url}, pid{open.work.exec("select pg_backend_pid()")[0][0].as<int>()} {}

    open_work open;
    int pid;
  };

  [[nodiscard]] std::string url() const { return pooler_->url(); }

  std::optional<own_pgbouncer> pooler_;
};

TEST_F(Pgbouncer, ServesLeasesFencesAndRowLocks) {
  postgres_store rows{url()};
  const auto time = std::make_shared<manual_time>();
  lock_table locks{rows, {.ttl = 3h, .time = time}};
  const auto key = key_of_its_own();
  observer seen{server().url()};
  seen.query("insert into counter values (1, 0)");
  const auto add = [](pqxx::work& work) { work.exec("update counter set n = n + 1"); };

  lease held = *locks.try_acquire(key);
  EXPECT_EQ(locks.try_acquire(key).refusal().reason, refusal_reason::held);
  const auto until = held.valid_until();
  time->advance(1h);
  EXPECT_TRUE(comes([&] { return held.valid_until() > until; })) << "it was not renewed";

  pqxx::connection connection{url()};
  {
    pqxx::work work{connection};
    add(work);
    fence(work, held);
    work.commit();
  }
  run_fenced<pqxx::work>(connection, held, add);
  EXPECT_FALSE(
      with_row_lock<pqxx::work>(connection, key, no_wait(), [](pqxx::work&) {}).acquired());
  EXPECT_EQ(held.release(), release_result::released);

  EXPECT_TRUE(with_row_lock<pqxx::work>(connection, key, wait_for(1s), add).acquired());
  EXPECT_TRUE(with_optimistic_commit<pqxx::work>(connection, key, add).acquired());
  EXPECT_EQ(total(), 4);
  lease again = *locks.try_acquire(key);
  run_fenced<pqxx::work>(connection, again, add, {.release = true});
  EXPECT_FALSE(rows.read(std::array{key}).front()->owned);
  EXPECT_EQ(total(), 5);
}

TEST_F(Pgbouncer, PreparedStatementsOnAnotherConnectionAreDoneWithout) {
  const auto key = key_of_its_own();
  const auto other_key = key_of_its_own("-other");
  std::optional<taken_connection> one{url()};
  std::optional<taken_connection> other{url()};
  ASSERT_NE(one->pid, other->pid);
  const auto leave_only = [&](std::optional<taken_connection>& freed,
                              std::optional<taken_connection>& taken) {
    if (!taken) taken.emplace(url());
    freed.reset();
  };

  postgres_store rows{url(), {.pool_size = 1}};
  leave_only(one, other);
  EXPECT_EQ(rows.acquire(std::array{request(key)}).front().status, acquire_status::granted);
  // What was prepared there is missing here (26000).
  leave_only(other, one);
  EXPECT_EQ(rows.acquire(std::array{request(other_key)}).front().status, acquire_status::granted);
  // And another store finds its names taken there (42P05).
  postgres_store others{url(), {.pool_size = 1}};
  leave_only(one, other);
  EXPECT_TRUE(others.read(std::array{key}).front()->is_live());
  EXPECT_EQ(others.acquire(std::array{request(key)}).front().status, acquire_status::granted);
}

TEST_F(Pgbouncer, SessionsOfItsOtherClientsStayAsTheyAre) {
  observer seen{server().url()};
  seen.query("alter role tester set default_transaction_isolation = 'repeatable read'");
  postgres_store rows{[this] { return std::make_unique<pqxx::connection>(url()); }};
  EXPECT_EQ(rows.acquire(std::array{request(key_of_its_own())}).front().status,
            acquire_status::granted);
  {
    taken_connection one{url()};
    taken_connection other{url()};
    for (auto* each : {&one, &other}) {
      const auto shown = each->open.work.exec("show default_transaction_isolation");
      EXPECT_EQ(shown[0][0].as<std::string>(), "repeatable read");
    }
  }
  seen.query("alter role tester reset default_transaction_isolation");
}

TEST_F(Pgbouncer, ThirtyTwoThreadsLoseNothing) {
  constexpr int threads = 32;
  constexpr int rounds = 12;
  constexpr int keys = 8;
  const auto prefix = make_owner_id().text;
  for (int id = 0; id < keys; ++id) {
    observer{server().url()}.query("insert into counter values (" + std::to_string(id) + ", 0)");
  }
  postgres_store rows{url(), {.pool_size = threads}};
  lock_table locks{rows, {.ttl = 30s}};
  const auto count_once = [&](pqxx::connection& connection, int id) {
    const auto counter = " where id = " + std::to_string(id);
    const auto counted = locks.with_lock(
        {.type = "fault", .source_id = prefix + std::to_string(id)},
        [&](const lease& held) {
          const int seen = [&] {
            pqxx::work reading{connection};
            return reading.exec("select n from counter" + counter)[0][0].as<int>();
          }();
          run_fenced<pqxx::work>(connection, held, [&](pqxx::work& work) {
            work.exec("update counter set n = " + std::to_string(seen + 1) + counter);
          });
        },
        {.wait = wait_for(patience)});
    return counted.acquired() ? 1 : 0;
  };

  std::vector<std::future<int>> counting;
  for (int thread = 0; thread < threads; ++thread) {
    counting.push_back(std::async(std::launch::async, [&, thread] {
      pqxx::connection connection{url()};
      int counted = 0;
      for (int round = 0; round < rounds; ++round) {
        counted += count_once(connection, (thread + round) % keys);
      }
      return counted;
    }));
  }
  int acknowledged = 0;
  for (auto& each : counting) acknowledged += each.get();
  EXPECT_EQ(acknowledged, threads * rounds);
  EXPECT_EQ(total(), acknowledged);
  // One that the pooler has replaced is still listed while it ends.
  observer{server().url()}.await(
      "select count(*) <= " + std::to_string(pool) +
      " from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()");
}

// Nothing is set behind it, so keys would become other rows.
TEST_F(Pgbouncer, WithAnotherEncodingOfAFactoryIsMisuse) {
  const auto make = [this] {
    return std::make_unique<pqxx::connection>(url() + "&client_encoding=LATIN1");
  };
  EXPECT_EQ(error_of([&] { (void)postgres_store{make}.list(); }).kind, errc::misuse);
}

// Its records of TLS are larger than PostgreSQL's: libpq takes a part of one, and the socket has no
// more to read.
TEST_F(Pgbouncer, WithTlsGivesLargeAnswersToTheirEnd) {
  constexpr std::size_t keys = 1000;
  observer{server().url()}.query(
      "insert into shared_lock (lock_type, source_id, version, owner, holder, acquired_at,"
      " expires_at, ttl_us, note) select 'job', i::text || repeat('x', 100 + i % 150), i, 'o' || i,"
      " 'web' || i, now(), now() + interval '1 day', 86400000000, repeat('n', i % 1000)"
      " from generate_series(1, " +
      std::to_string(keys) + ") i");
  const self_signed certificate;
  const own_pgbouncer encrypted{server(), pool, &certificate};
  postgres_store rows{encrypted.url(), {.statement_timeout = 23h, .answer_timeout = 24h}};
  for (std::size_t limit = 20; limit <= keys; limit += 4) {
    ASSERT_EQ(rows.list(list_request{.limit = limit}).size(), limit);
  }
}

}  // namespace
}  // namespace rowlock::tests
