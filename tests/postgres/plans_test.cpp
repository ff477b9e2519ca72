// How often the server plans a statement that is prepared.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

class PostgresPlans : public postgres_table {
 protected:
  static constexpr int executions = 20;
  /// PostgreSQL makes five plans for the values at hand before it compares them with one for all,
  /// and another one when the table has grown meanwhile.
  static constexpr int first_plans = executions / 2;

  /// A store with one connection, whose session the test can read.
  postgres_store open_watched_store(const std::string& options = {}) {
    return postgres_store{[this, url = options.empty() ? postgres_url() : url_with(options)] {
                            auto opened = std::make_unique<pqxx::connection>(url);
                            session_ = opened.get();
                            return opened;
                          },
                          {.table = table(), .pool_size = 1}};
  }

  /// The statements that were planned more often than that, and how often.
  std::map<std::string, int> planned_anew() {
    pqxx::nontransaction reader{*session_};
    std::map<std::string, int> plans;
    for (const auto& row : reader.exec("select statement, custom_plans from pg_prepared_statements"
                                       " where name like 'rowlock%' and custom_plans > " +
                                       std::to_string(first_plans))) {
      plans.emplace(row[0].as<std::string>(), row[1].as<int>());
    }
    return plans;
  }
  int prepared() {
    pqxx::nontransaction reader{*session_};
    return reader
        .exec("select count(*) from pg_prepared_statements where generic_plans >= " +
              std::to_string(executions - first_plans))[0][0]
        .as<int>();
  }

  [[nodiscard]] std::vector<acquire_request> requests_for(int count,
                                                          const std::string& type) const {
    std::vector<acquire_request> requests;
    for (int i = 0; i < count; ++i) requests.push_back(request({type, std::to_string(i)}));
    return requests;
  }
  /// Those that were granted.
  static std::vector<release_request> granted(const std::vector<acquire_request>& requests,
                                              const std::vector<acquire_answer>& answers) {
    std::vector<release_request> held;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].status != acquire_status::granted) continue;
      held.push_back({requests[i].key, requests[i].owner, answers[i].version.value()});
    }
    return held;
  }
  static void renew_and_release(store& rows, const std::vector<release_request>& held) {
    std::vector<renew_request> renewals;
    for (const auto& each : held) renewals.push_back({each.key, each.owner, each.version, 1h});
    rows.renew(renewals);
    rows.release(held);
  }

  pqxx::connection* session_ = nullptr;  // the store's
};

class PostgresPlansOf : public PostgresPlans, public testing::WithParamInterface<int> {
 protected:
  PostgresPlansOf() {
    server_.query("insert into " + name() +
                  " (lock_type, source_id, version) select 'invoice', n, 1"
                  " from generate_series(0, 9999) n");
    server_.query("vacuum analyze " + name());
  }
};

INSTANTIATE_TEST_SUITE_P(Keys, PostgresPlansOf, testing::Values(1, 2, 3, 4, 6, 8, 200));

TEST_P(PostgresPlansOf, AreKeptForRowsThatAreThere) {
  auto rows = open_watched_store();
  const auto requests = requests_for(GetParam(), "invoice");
  std::vector<lock_key> keys;
  for (const auto& each : requests) keys.push_back(each.key);
  for (int i = 0; i < executions; ++i) {
    for (const auto& answers :
         {rows.acquire(requests), rows.acquire(requests, {acquire_mode::all_or_none})}) {
      rows.read(keys);
      rows.read(keys, read_mode::watched);
      const auto held = granted(requests, answers);
      ASSERT_EQ(held.size(), requests.size());
      renew_and_release(rows, held);
      rows.read(keys, read_mode::ready_to_commit);
    }
    renew_and_release(
        rows, granted(requests, rows.acquire(requests, {acquire_mode::any, requests.size()})));
  }
  EXPECT_EQ(planned_anew(), (std::map<std::string, int>{}));
  EXPECT_GE(prepared(), 6);
}

TEST_P(PostgresPlansOf, AreKeptForRowsThatAreMissing) {
  auto rows = open_watched_store();
  for (int i = 0; i < executions; ++i) {
    const auto each = requests_for(GetParam(), "new" + std::to_string(i));
    const auto any = requests_for(GetParam(), "any" + std::to_string(i));
    const auto all = requests_for(GetParam(), "all" + std::to_string(i));
    EXPECT_EQ(granted(each, rows.acquire(each)).size(), each.size());
    EXPECT_EQ(granted(any, rows.acquire(any, {acquire_mode::any, any.size()})).size(), any.size());
    EXPECT_EQ(granted(all, rows.acquire(all, {acquire_mode::all_or_none})).size(), all.size());
  }
  EXPECT_EQ(planned_anew(), (std::map<std::string, int>{}));
  EXPECT_GE(prepared(), 3);
}

/// Counts what the server reads of a table.
class PostgresReads : public postgres_table {
 protected:
  /// Rows that have been read, from an index and by scans of the whole table, and the table's
  /// pages.
  struct reads {
    long long by_index;
    long long by_scans;
    long long pages;
  };
  reads reads_so_far(const std::string& table) {
    // A session reports what it read when it ends, before its connection is closed.
    const auto result = server_.query(
        "select idx_tup_fetch, seq_tup_read, heap_blks_read + heap_blks_hit"
        " from pg_stat_user_tables join pg_statio_user_tables using (relid) where relid = '" +
        table + "'::regclass");
    const auto row = result[0];  // libpqxx 8: it lives as long as the result
    return {row[0].as<long long>(), row[1].as<long long>(), row[2].as<long long>()};
  }
  /// Returns when the session that executed them has ended: what a session reads that goes on is
  /// reported up to a second later, in the middle of what a test counts.
  void execute_by_another(const std::vector<std::string>& statements) {
    std::string process;
    {
      observer other;
      process = other.value<std::string>("select pg_backend_pid()");
      for (const auto& each : statements) other.query(each);
    }
    await_end_of(process);
  }
  void await_end_of(const std::string& process) {
    server_.await("select not exists (select from pg_stat_activity where pid = " + process + ")");
  }
  /// Of `work`, whose sessions must have ended when it returns.
  template <class Work>
  reads reads_of(const std::string& table, const Work& work) {
    const auto before = reads_so_far(table);
    work();
    reads after;
    await_that([&] {
      after = reads_so_far(table);
      return after.by_index != before.by_index || after.by_scans != before.by_scans;
    });
    return {after.by_index - before.by_index, after.by_scans - before.by_scans,
            after.pages - before.pages};
  }
};

class PostgresKeyPlans : public PostgresReads, public testing::WithParamInterface<int> {
 protected:
  PostgresKeyPlans() {
    server_.query("insert into " + name() +
                  " (lock_type, source_id, version) select 'invoice', n, 1"
                  " from generate_series(1, " +
                  std::to_string(GetParam()) + ") n");
    server_.query("vacuum analyze " + name());
  }
};

INSTANTIATE_TEST_SUITE_P(Rows, PostgresKeyPlans, testing::Values(500, 1'000, 20'000));

// Neither with few rows, where PostgreSQL would read them all if it expected ten keys.
TEST_P(PostgresKeyPlans, SeveralKeysAreReadByThePrimaryKey) {
  const std::vector<lock_key> keys{
      {"invoice", "3"}, {"invoice", "50"}, {"invoice", "80"}, {"invoice", "200"}};
  const auto read = reads_of(name(), [&] {
    auto rows = open_store(url_with("options=-cplan_cache_mode%3Dforce_generic_plan"));
    std::vector<acquire_request> requests;
    for (const auto& key : keys) requests.push_back(request(key));
    const auto granted = rows.acquire(requests);
    std::vector<release_request> releases;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(granted[i].status, acquire_status::granted);
      releases.push_back({keys[i], requests[i].owner, *granted[i].version});
    }
    rows.release(releases);
  });
  EXPECT_EQ(read.by_scans, 0);
}

// A session's reads are counted when it ends. A row that is free, one that is leased, a missing
// one, several, and a fence.
TEST_P(PostgresKeyPlans, LockedRowsAreReadByThePrimaryKey) {
  const auto read = reads_of(name(), [&] {
    auto rows = open_store();
    lock_table locks{rows, {.renew = false}};
    const auto held = locks.try_acquire({"invoice", "7"});
    ASSERT_TRUE(held.acquired());
    open_work ours;
    fence(ours.work, *held, {}, table());
    const auto lock = [&](const lock_keys& keys) {
      return rowlock::lock_rows(ours.work, keys, no_wait(), table()).acquired();
    };
    EXPECT_TRUE(lock({{"invoice", "3"}}));
    EXPECT_FALSE(lock({{"invoice", "7"}}));
    EXPECT_TRUE(lock({{"invoice", "a new one"}}));
    EXPECT_TRUE(lock({{"invoice", "50"}, {"invoice", "80"}, {"invoice", "200"}}));
    ours.work.commit();
  });
  EXPECT_EQ(read.by_scans, 0);
  EXPECT_LE(read.by_index, 60);
}

class PostgresListPlans : public PostgresReads {
 protected:
  PostgresListPlans() {
    server_.query("insert into " + name() +
                  " (lock_type, source_id, version, owner, holder, acquired_at, expires_at)"
                  " select 'job', to_char(n, 'FM00000'), 1, repeat('a', 32), 'host:1', now(),"
                  " now() + interval '1 hour' from generate_series(1, 20000) n");
    server_.query("vacuum analyze " + name());
  }
};

// The page after a key in the middle: neither the 10,000 rows before it, nor those behind the page.
TEST_F(PostgresListPlans, APageByKeyReadsThePrimaryKeyFromItsCursorOn) {
  const auto read = reads_of(name(), [this] {
    auto rows = open_store();
    const auto page = rows.list({.after = lock_key{"job", "10000"}, .limit = 50});
    ASSERT_EQ(page.size(), 50U);
    EXPECT_EQ(page.front().key.source_id, "10001");
  });
  EXPECT_EQ(read.by_scans, 0);
  EXPECT_LE(read.by_index, 60);
}

class PostgresHistoryPlans : public PostgresReads {
 protected:
  static constexpr int pages = 20;
  static constexpr int length = 50;

  PostgresHistoryPlans() { migrate_postgres(postgres_url(), table(), history_option::with); }

  /// An event for each second; a key is the texts `type` and `source` in SQL.
  void fill(int count, const std::string& type, const std::string& source) {
    server_.query("insert into " + events() +
                  " (at, lock_type, source_id, what, version, token, holder, since, until)"
                  " select at, " +
                  type + ", " + source +
                  ", 'released', 2 * n + 1, 2 * n, 'host:1',"
                  " at - interval '0.5 seconds', at"
                  " from (select n, timestamptz '2026-01-31 12:00:00+00' + n * interval '1 second'"
                  " as at from generate_series(1, " +
                  std::to_string(count) + ") n) held");
    server_.query("vacuum analyze " + events());
  }
  [[nodiscard]] std::string events() const { return schema() + ".shared_lock_event"; }

  /// Reads pages from the middle of the events on.
  reads reads_of_pages(history_request request) {
    return reads_of(events(), [&] {
      // A plan for any values: from the sixth page on the server may choose it by itself.
      auto rows = open_store(url_with("options=-cplan_cache_mode%3Dforce_generic_plan"));
      request.until =
          database_time{std::chrono::sys_days{std::chrono::year{2026} / 1 / 31} + 12h + 10'000s};
      request.limit = length;
      for (int page = 0; page < pages; ++page) {
        const auto found = rows.history(request).events;
        ASSERT_EQ(found.size(), static_cast<std::size_t>(length));
        request.before = found.back();
      }
    });
  }
};

// Of each page the ends and the grants, to find the last one and to read them.
TEST_F(PostgresHistoryPlans, APageReadsTheIndexByTimeFromItsCursorOn) {
  fill(100'000, "'job' || n % 150", "'k' || n");
  const auto read = reads_of_pages({});
  EXPECT_EQ(read.by_scans, 0);
  EXPECT_LE(read.by_index, pages * 5 * length);
}

TEST_F(PostgresHistoryPlans, APageOfAKeyReadsItsIndexFromItsCursorOn) {
  fill(20'000, "'job'", "(n % 2)::text");
  const auto read = reads_of_pages({.type = "job", .source_id = "1", .what = "released"});
  EXPECT_EQ(read.by_scans, 0);
  EXPECT_LE(read.by_index, pages * 5 * length);
}

}  // namespace
}  // namespace rowlock::tests
