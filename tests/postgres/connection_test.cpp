// The connections of a store: shared, lost and replaced.
#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "postgres/postgres_connection.hpp"
#include "rowlock/lock_table.hpp"
#include "support/forked_child.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

struct observer_of_faults final : rowlock::observer {
  void fault(const fault_event& /*event*/) override { ++faults; }

  std::atomic<int> faults = 0;
};

TEST_F(PostgresConnection, IsOpenedWithTheFirstCall) {
  const auto rows = open_named_store();
  EXPECT_EQ(count_backends(), 0);
}

TEST_F(PostgresConnection, IsUsedAgainByTheNextCall) {
  auto rows = open_named_store();
  for (int i = 0; i < 5; ++i) (void)rows.list();
  EXPECT_EQ(count_backends(), 1);
}

TEST_F(PostgresConnection, ThatTheServerClosedMeanwhileIsReplacedUnnoticed) {
  auto rows = open_named_store();
  const auto granted = acquire(rows, key_);
  terminate_backends();
  EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
  terminate_backends();
  EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
  terminate_backends();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  terminate_backends();
  EXPECT_EQ(rows.list().size(), 1U);
}

TEST_F(PostgresConnection, LostUnderAWriteIsAnUnknownOutcomeAndUnderAReadUnavailable) {
  auto rows = open_named_store();
  (void)rows.list();
  const std::vector<std::pair<std::function<void()>, errc>> calls{
      {[&] { acquire(rows, key_); }, errc::outcome_unknown},
      {[&] { renew(rows, key_, {1}); }, errc::outcome_unknown},
      {[&] { release(rows, key_, {1}); }, errc::outcome_unknown},
      {[&] { rows.read(std::array{key_}); }, errc::unavailable},
      {[&] { (void)rows.list(); }, errc::unavailable},
  };
  for (const auto& [call, kind] : calls) {
    open_work rival;
    rival.work.exec("lock table " + name() + " in access exclusive mode");
    auto failing = std::async(std::launch::async, [&call = call] { return error_of(call); });
    server_.await("select count(*) = 1" + backends() + " and wait_event_type = 'Lock'");
    terminate_backends();
    EXPECT_EQ(failing.get().kind, kind);
  }
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(PostgresConnection, ThatIsNotFreeInTimeIsUnavailableAndSaysWhichOptionToRaise) {
  auto rows = open_named_store(1);
  (void)rows.list();
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  auto waiting = std::async(std::launch::async, [&] { return rows.list().size(); });
  server_.await("select count(*) = 1" + backends() + " and wait_event_type = 'Lock'");
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_EQ(caught.message().substr(0, 55),
            "all 1 connections are busy; raise pool_size: it did not");
  rival.work.abort();
  EXPECT_EQ(waiting.get(), 0U);
}

TEST_F(PostgresConnection, OfSeveralIsKeptForRenewalsAndReleases) {
  auto rows = open_named_store(3);
  const auto granted = acquire(rows, key_);
  const auto others = acquire(rows, other_key_);
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  const auto await_waiting = [&](int count) {
    server_.await("select count(*) = " + std::to_string(count) + backends() +
                  " and wait_event_type = 'Lock'");
  };
  std::vector<std::future<std::size_t>> listing;
  for (int i = 0; i < 2; ++i) {
    listing.push_back(std::async(std::launch::async, [&] { return rows.list().size(); }));
  }
  await_waiting(2);
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("or kept for renewals"), std::string::npos);

  auto renewing =
      std::async(std::launch::async, [&] { return renew(rows, key_, *granted.version); });
  await_waiting(3);
  rival.work.abort();
  EXPECT_EQ(renewing.get(), change_answer::done);
  for (auto& each : listing) EXPECT_EQ(each.get(), 2U);
  EXPECT_EQ(release(rows, other_key_, *others.version), change_answer::done);
}

TEST_F(PostgresConnection, OfAPoolOfOneIsEnoughForALockInsideAnother) {
  auto rows = open_named_store(1);
  lock_table locks{rows};
  const auto inner =
      locks.with_lock(key_, [&] { return locks.with_lock(other_key_, [] {}).acquired(); });
  ASSERT_TRUE(inner.acquired());
  EXPECT_TRUE(*inner);
}

TEST_F(PostgresConnection, IsSharedByMoreThreadsThanThereAre) {
  postgres_store rows{url_with("application_name=" + schema()), {.table = table(), .pool_size = 2}};
  std::vector<std::future<int>> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.push_back(std::async(std::launch::async, [&, thread] {
      int grants = 0;
      for (int i = 0; i < 50; ++i) {
        const lock_key key{"thread", std::to_string(thread)};
        const auto granted = acquire(rows, key);
        if (granted.status != acquire_status::granted) continue;
        if (release(rows, key, *granted.version) == change_answer::done) ++grants;
      }
      return grants;
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), 50);
  EXPECT_LE(count_backends(), 2);
}

// libpq's own way is to print them; libpqxx drops them.
TEST_F(PostgresConnection, PrintsNoNotice) {
  server_.query("create function " + schema() + ".talk() returns trigger language plpgsql as " +
                "$$ begin raise notice 'spoken'; raise warning 'spoken'; return new; end $$");
  server_.query("create trigger talking before update or insert on " + name() +
                " for each row execute function " + schema() + ".talk()");
  auto rows = open_store();
  testing::internal::CaptureStderr();
  const auto granted = acquire(rows, key_).status;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(granted, acquire_status::granted);
}

TEST_F(PostgresConnection, ThatAnsweredNothingSinceACallBeganThatLostItsOwnIsReplaced) {
  auto rows = open_named_store();
  const auto all = [this] {
    std::vector<int> pids;
    for (const auto& row : server_.query("select pid" + backends() + " order by pid")) {
      pids.push_back(row[0].as<int>());
    }
    return pids;
  };
  // So many calls at once need so many connections.
  const auto list_at_once = [&](std::size_t calls, const std::function<void()>& meanwhile) {
    open_work rival;
    rival.work.exec("lock table " + name() + " in access exclusive mode");
    std::vector<std::future<std::size_t>> listing;
    for (std::size_t i = 0; i < calls; ++i) {
      listing.push_back(std::async(std::launch::async, [&] { return rows.list().size(); }));
    }
    server_.await("select count(*) = " + std::to_string(calls) + backends() +
                  " and wait_event_type = 'Lock'");
    meanwhile();
    rival.work.abort();
    for (auto& each : listing) each.wait();  // whatever becomes of it
  };
  (void)rows.list();
  list_at_once(3, [] {});
  const auto before = all();
  ASSERT_EQ(before.size(), 3U);
  list_at_once(1, [&] {
    server_.query("select pg_terminate_backend(pid, 10000)" + backends() +
                  " and wait_event_type = 'Lock'");
  });
  list_at_once(3, [] {});
  server_.await("select count(*) = 3" + backends());
  for (const int pid : all()) {
    EXPECT_EQ(std::count(before.begin(), before.end(), pid), 0)
        << "the network that failed under one may have failed under this one";
  }
}

/// A role that may have few connections.
class FewConnections : public PostgresConnection {
 protected:
  FewConnections() {
    server_.query("grant usage on schema " + schema() + " to " + role_.name());
    server_.query("grant select, insert, update on all tables in schema " + schema() + " to " +
                  role_.name());
  }

  void allow(int connections) {
    server_.query("alter role " + role_.name() + " connection limit " +
                  std::to_string(connections));
  }

  test_role role_{server_};
};

TEST_F(FewConnections, OneIsEnoughForThreadsThatAcquireRenewAndRelease) {
  allow(1);
  postgres_store rows{role_.url(), {.table = table(), .pool_timeout = patience}};
  const auto observed = std::make_shared<observer_of_faults>();
  lock_table locks{rows, {.observer = observed}};
  std::vector<std::future<int>> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.push_back(std::async(std::launch::async, [&] {
      int runs = 0;
      for (int i = 0; i < 5; ++i) {
        if (locks.with_lock(key_, [] {}, {.wait = patience}).acquired()) ++runs;
      }
      return runs;
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), 5);
  EXPECT_EQ(observed->faults, 0) << "nothing that waits for the only connection fails";
}

TEST_F(FewConnections, WhereAllAreBusyACallSaysWhoseLimitItIs) {
  allow(1);
  auto options = long_waits();
  options.table = table();
  options.pool_timeout = 200ms;
  postgres_store rows{role_.url() + "&application_name=" + schema(), options};
  (void)rows.list();
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  auto listing = std::async(std::launch::async, [&] { return rows.list().size(); });
  server_.await("select count(*) = 1" + backends() + " and wait_event_type = 'Lock'");
  const auto caught = error_of([&] { (void)rows.list(); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("ALTER ROLE ... CONNECTION LIMIT"), std::string::npos)
      << caught.message();
  rival.work.abort();
  EXPECT_EQ(listing.get(), 0U);
}

TEST_F(FewConnections, AreKnownToAnInspection) {
  auto rows = open_store(role_.url());
  EXPECT_EQ(rows.inspect().connection_limit, std::nullopt);
  allow(3);
  EXPECT_EQ(rows.inspect().connection_limit, 3);
  auto administrators = open_store();
  EXPECT_EQ(administrators.inspect().connection_limit, std::nullopt);
}

/// Counts how often it listens.
class counting_listener final : public release_listener {
 public:
  void released(const lock_key& /*key*/) noexcept override {}
  void listening() noexcept override { ++times; }

  std::atomic<int> times = 0;
};

TEST_F(FewConnections, TheLastIsLeftToCallsForLocks) {
  allow(2);
  std::atomic<int> made = 0;
  postgres_store rows{[&] {
                        auto opened = std::make_unique<pqxx::connection>(role_.url());
                        ++made;
                        return opened;
                      },
                      {.table = table()}};
  (void)rows.list();
  counting_listener listener;
  const auto listening = rows.listen(listener);
  ASSERT_TRUE(comes([&] { return made == 2; }));
  const auto can_connect = [&] {
    try {
      const pqxx::connection of_another_process{role_.url()};
      return true;
    } catch (const pqxx::failure&) {
      return false;
    }
  };
  EXPECT_TRUE(comes(can_connect)) << "the listener keeps the last connection";
  EXPECT_EQ(listener.times, 0);
}

TEST_F(FewConnections, OneMoreThanTheLastMayListen) {
  allow(3);
  auto rows = open_store(role_.url());
  (void)rows.list();
  counting_listener listener;
  const auto listening = rows.listen(listener);
  EXPECT_TRUE(comes([&] { return listener.times == 1; }));
}

TEST_F(PostgresConnection, SurvivesAChildThatDestroysItsCopy) {
  std::optional<postgres_store> rows;
  rows.emplace(url_with("application_name=" + schema()),
               postgres_options{.table = table(), .pool_size = 1});
  (void)rows->list();
  const auto backend = [this] { return server_.value<int>("select pid" + backends()); };
  const auto before = backend();
  const auto wrong = complaints_of_child([&](std::vector<std::string>&) { rows.reset(); });
  EXPECT_TRUE(wrong.empty());
  for (int i = 0; i < 10; ++i) (void)rows->list();
  EXPECT_EQ(backend(), before);
}

TEST_F(PostgresConnection, WithoutItsPreparedStatementsGoesOnWithoutNames) {
  // One connection, of which we keep a hand to take its statements away.
  pqxx::connection* ours = nullptr;
  postgres_store rows{make_connection{[&] {
                        auto made = std::make_unique<pqxx::connection>(postgres_url());
                        ours = made.get();
                        return made;
                      }},
                      {.table = table(), .pool_size = 1}};
  const auto statements = [&] {
    pqxx::nontransaction reader{*ours};
    return reader.exec("select name from pg_prepared_statements").size();
  };
  const auto take_away = [&] {
    pqxx::nontransaction cleaning{*ours};
    cleaning.exec("deallocate all");
  };
  const auto granted = acquire(rows, key_);
  EXPECT_GT(statements(), 0U);
  take_away();
  EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
  take_away();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(statements(), 0U) << "it does not try names again";
}

TEST_F(PostgresConnection, OnWhichAStatementCouldNotBePreparedKeepsNames) {
  pqxx::connection* ours = nullptr;
  postgres_store rows{make_connection{[&] {
                        auto made = std::make_unique<pqxx::connection>(postgres_url());
                        ours = made.get();
                        return made;
                      }},
                      {.table = table(), .pool_size = 1}};
  const auto statements = [&] {
    pqxx::nontransaction reader{*ours};
    return reader.exec("select name from pg_prepared_statements").size();
  };
  (void)rows.list();
  const auto before = statements();
  const auto step = postgres_migrations(table()).front();
  postgres_schema::execute(step.down);
  EXPECT_EQ(error_of([&] { acquire(rows, key_); }).kind, errc::rejected);
  postgres_schema::execute(step.up);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_GT(statements(), before);
}

TEST_F(PostgresConnection, OnWhichANameIsTakenGoesOnWithoutNames) {
  std::vector<std::string> names;
  pqxx::connection* ours = nullptr;
  const make_connection make = [&] {
    auto made = std::make_unique<pqxx::connection>(postgres_url());
    pqxx::nontransaction taking{*made};
    for (const auto& taken : names) taking.exec("prepare " + taken + " as select 'not ours'");
    ours = made.get();
    return made;
  };
  {
    postgres_store rows{make, {.table = table(), .pool_size = 1}};
    acquire(rows, key_);
    pqxx::nontransaction reader{*ours};
    for (const auto& row : reader.exec("select name from pg_prepared_statements")) {
      names.push_back(row[0].as<std::string>());
    }
  }
  ASSERT_FALSE(names.empty());
  postgres_store rows{make, {.table = table(), .pool_size = 1}};
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

}  // namespace
}  // namespace rowlock::tests
