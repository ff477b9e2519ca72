// The history of locks: what the triggers write, on every database, and how it begins and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "cli/database_time.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CliHistoryTest : public LockedCliTest {
 protected:
  void SetUp() override {
    LockedCliTest::SetUp();
    const auto begun = run(rowlock("migrate", {"--with", "history"}));
    ASSERT_EQ(begun.code, 0) << begun.errors;
    ASSERT_EQ(begun.output, "began the history\n");
  }

  [[nodiscard]] long long events(const std::string& where) const {
    return number("select count(*) from shared_lock_event where " + where);
  }
  [[nodiscard]] long long all_events() const { return events("1 = 1"); }

  acquire_answer acquire(const std::string& holder, const owner_id& owner = make_owner_id(),
                         const std::string& correlation_id = {}) {
    const acquire_request request{
        .key = key_, .owner = owner, .holder = holder, .ttl = 1h, .correlation_id = correlation_id};
    return rows_->acquire(std::array{request}).front();
  }
  void run_out() { execute("update shared_lock set expires_at = '2000-01-01 00:00:00.000'"); }

  const lock_key key_{"invoice", "42"};
  const std::unique_ptr<store> rows_ = open();
};

TEST_P(CliHistoryTest, HasEachHoldOnceWhenItIsOver) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  auto held = locks.try_acquire(key_, {.correlation_id = "request 7"});
  EXPECT_EQ(all_events(), 0);
  const auto token = std::to_string(held->token().number);
  ASSERT_EQ(held->release(), release_result::released);
  EXPECT_EQ(all_events(), 1);
  EXPECT_EQ(events("lock_type = 'invoice' and source_id = '42' and what = 'released' and "
                   "holder = 'worker-a' and correlation_id = 'request 7' and reason is null and "
                   "token = " +
                   token + " and version > " + token +
                   " and since is not null and until >= since and at >= since"),
            1);
}

TEST_P(CliHistoryTest, HasEachHoldOfReleasesThatAreOneStatement) {
  std::vector<acquire_request> wanted;
  std::vector<release_request> over;
  for (int number = 0; number < 5; ++number) {
    wanted.push_back({.key = {"invoice", std::to_string(number)},
                      .owner = make_owner_id(),
                      .holder = "worker-" + std::to_string(number),
                      .ttl = 1h});
  }
  const auto granted = rows_->acquire(wanted);
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    over.push_back({.key = wanted[at].key,
                    .owner = wanted[at].owner,
                    .version = granted[at].version.value(),
                    .stay_closed = at == 4 ? 1h : 0h});
  }
  rows_->release(over);
  EXPECT_EQ(events("what = 'released' and since is not null"), 5);
  EXPECT_EQ(events("what = 'released' and source_id = '3' and holder = 'worker-3' and token = " +
                   std::to_string(granted[3].version->number)),
            1);
  EXPECT_EQ(events("what = 'closed' and source_id = '4'"), 1);
  EXPECT_EQ(all_events(), 6);
}

TEST_P(CliHistoryTest, HasWorkThatFailed) {
  lock_table locks{*rows_};
  EXPECT_THROW((void)locks.with_lock(key_, [](const lease&) { throw std::domain_error{"failed"}; }),
               std::domain_error);
  EXPECT_EQ(events("what = 'failed'"), 1);
}

TEST_P(CliHistoryTest, HasNoRenewalsNotesAndRefusals) {
  lock_table locks{*rows_};
  auto held = locks.try_acquire(key_);
  EXPECT_EQ(held->write_note("step 1"), note_result::written);
  EXPECT_EQ(acquire("rival").status, acquire_status::held);
  EXPECT_EQ(all_events(), 0);
}

TEST_P(CliHistoryTest, HasALeaseThatRanOutWithItsHolderAndItsEnd) {
  acquire("worker-a");
  run_out();
  acquire("worker-b");
  EXPECT_EQ(all_events(), 1);
  EXPECT_EQ(events("what = 'ran out' and holder = 'worker-a' and until < '2000-01-02' and "
                   "at > '2000-01-02'"),
            1);
}

TEST_P(CliHistoryTest, HasALeaseThatRanOutAndIsTakenByTheSameAttempt) {
  const auto owner = make_owner_id();
  acquire("worker-a", owner);
  run_out();
  acquire("worker-a", owner);
  EXPECT_EQ(events("what = 'ran out'"), 1);
}

TEST_P(CliHistoryTest, HasAHandoffAsTheEndOfTheFirstHold) {
  const auto owner = make_owner_id();
  const auto granted = acquire("worker-a", owner).version.value();
  const auto handed = rows_->handoff(
      {.ended = {.key = key_, .owner = owner, .version = granted},
       .next = {.key = key_, .owner = make_owner_id(), .holder = "worker-b", .ttl = 1h}});
  ASSERT_EQ(handed.ended, change_answer::done);
  EXPECT_EQ(all_events(), 1);
  // Where a handoff takes two writes, the first is a release.
  EXPECT_EQ(events("what in ('handed over', 'released') and holder = 'worker-a'"), 1);
}

TEST_P(CliHistoryTest, HasWhatWasTakenByForceFromWhomAndWhy) {
  const auto held = acquire("worker-a").version.value();
  force_release(*rows_, key_, held, "its host is gone", "ann");
  EXPECT_EQ(all_events(), 1);
  EXPECT_EQ(events("what = 'forced' and holder = 'worker-a' and token = " +
                   std::to_string(held.number) + " and reason = 'its host is gone (by ann)'"),
            1);
  lock_table{*rows_}.try_acquire(key_)->release();
  EXPECT_EQ(events("what = 'released' and reason is null"), 1);
}

TEST_P(CliHistoryTest, HasTheLastRequestToYieldWhenTheHoldIsOver) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  auto held = locks.try_acquire(key_);
  const auto token = std::to_string(held->token().number);
  ASSERT_EQ(ask(*rows_, key_, "first", "ann"), ask_result::asked);
  ASSERT_EQ(ask(*rows_, key_, "deploy", "ann"), ask_result::asked);
  EXPECT_EQ(all_events(), 0);
  const auto asked_at = show(*rows_, key_)->asked->at;
  ASSERT_EQ(held->release(), release_result::released);
  EXPECT_EQ(all_events(), 2);
  EXPECT_EQ(events("what = 'asked' and holder = 'ann' and reason = 'deploy' and token = " + token +
                   " and since is null and until is null"),
            1);
  EXPECT_EQ(events("what = 'released' and reason is null"), 1);
  const auto shown = rows_->history({.what = "asked"});
  ASSERT_EQ(shown.events.size(), 1U);
  EXPECT_EQ(shown.events.front().at, asked_at);
  ASSERT_EQ(locks.try_acquire(key_)->release(), release_result::released);
  EXPECT_EQ(events("what = 'asked'"), 1);
}

TEST_P(CliHistoryTest, HasTheRequestToYieldOfAHoldThatWasHandedOver) {
  const auto first = make_owner_id();
  const auto token = *acquire("worker-a", first).version;
  ASSERT_EQ(ask(*rows_, key_, "deploy", "ann"), ask_result::asked);
  ASSERT_TRUE(
      rows_
          ->handoff(
              {.ended = {key_, first, token},
               .next = {.key = key_, .owner = make_owner_id(), .holder = "worker-b", .ttl = 1h}})
          .granted);
  EXPECT_EQ(events("what = 'asked' and holder = 'ann'"), 1);
  EXPECT_EQ(all_events(), 2);
}

TEST_P(CliHistoryTest, HasThatAKeyStayedClosedAndWasOpenedByForce) {
  const auto owner = make_owner_id();
  const auto granted = acquire("worker-a", owner).version.value();
  rows_->release(std::array{
      release_request{.key = key_, .owner = owner, .version = granted, .stay_closed = 1h}});
  EXPECT_EQ(events("what = 'released'"), 1);
  EXPECT_EQ(events("what = 'closed' and holder = 'worker-a' and until > at"), 1);
  force_release(*rows_, key_, show(*rows_, key_)->version, "needed now", "ann");
  EXPECT_EQ(events("what = 'forced' and holder = 'worker-a' and since is null"), 1);
  EXPECT_EQ(all_events(), 3);
}

TEST_P(CliHistoryTest, HasThatWorkWasDone) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  ASSERT_TRUE(locks.with_lock_once(key_, [](const lease&) {}, {.keep_for = 1h}).acquired());
  EXPECT_EQ(events("what = 'done' and holder = 'worker-a' and until > at"), 1);
  EXPECT_EQ(events("what = 'released'"), 1);
  locks.try_acquire(key_)->release();
  EXPECT_EQ(events("what = 'done'"), 1);
}

TEST_P(CliHistoryTest, HasRowLocksOfNewAndOldRowsAndWhatTheyEnd) {
  database_->lock_and_commit(key_);
  EXPECT_EQ(events("what = 'locked' and since is null and token is null"), 1);
  acquire("worker-a");
  run_out();
  database_->lock_and_commit(key_);
  EXPECT_EQ(events("what = 'ran out' and holder = 'worker-a'"), 1);
  EXPECT_EQ(events("what = 'locked'"), 2);
  EXPECT_EQ(all_events(), 3);
}

TEST_P(CliHistoryTest, HasOptimisticCommits) {
  lock_table{*rows_}.try_acquire(key_)->release();
  database_->commit_optimistically(key_);
  database_->commit_optimistically(key_);
  EXPECT_EQ(events("what = 'committed' and since is null"), 2);
  EXPECT_EQ(all_events(), 3);
}

TEST_P(CliHistoryTest, HasWhatPlainSqlDoes) {
  acquire("worker-a");
  execute(
      "update shared_lock set owner = null, expires_at = '1970-01-01 00:00:00.000', "
      "version = version + 1");
  EXPECT_EQ(events("what = 'released' and holder = 'worker-a'"), 1);
}

TEST_P(CliHistoryTest, IsBegunAndEndedOnceAndKeepsItsEvents) {
  const auto again = run(rowlock("migrate", {"--with", "history"}));
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("nothing to do"));
  lock_table locks{*rows_};
  locks.try_acquire(key_)->release();
  const auto ended = run(rowlock("migrate", {"--without", "history"}));
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("ended the history; its events stay in "));
  // MariaDB shows triggers to few users.
  if (std::string{GetParam().name} != "Mariadb") {
    EXPECT_THAT(run(rowlock("history")).errors, HasSubstr("the history was ended"));
  }
  locks.try_acquire(key_)->release();
  EXPECT_EQ(all_events(), 1);
  EXPECT_THAT(run(rowlock("migrate", {"--without", "history"})).output, HasSubstr("nothing to do"));
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  locks.try_acquire(key_)->release();
  EXPECT_EQ(all_events(), 2);
}

TEST_P(CliHistoryTest, WithoutItsTableStopsNoLock) {
  execute("drop table shared_lock_event");
  const auto ran = run(rowlock("run", {"--type", "invoice", "--source", "42", "--", "true"}));
  EXPECT_EQ(ran.code, 0) << ran.errors;
}

TEST_P(CliHistoryTest, IsNotBegunWhereAnotherTableHasTheName) {
  const auto is_refused = [&] {
    const auto refused = run(rowlock("migrate", {"--with", "history"}));
    EXPECT_EQ(refused.code, 69) << refused.errors;
    EXPECT_THAT(
        refused.errors,
        HasSubstr("shared_lock_event does not take the events of a history: drop or rename"));
  };
  execute("drop table shared_lock_event");
  execute("create table shared_lock_event (number int)");
  is_refused();  // the triggers are there
  ASSERT_EQ(run(rowlock("migrate", {"--without", "history"})).code, 0);
  is_refused();
  lock_table locks{*rows_};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
  execute("drop table shared_lock_event");
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  EXPECT_EQ(all_events(), 0);
}

TEST_P(CliHistoryTest, WithoutItsTableIsEndedByOneCommand) {
  execute("drop table shared_lock_event");
  ASSERT_EQ(run(rowlock("migrate", {"--without", "history"})).code, 0);
  lock_table locks{*rows_};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
}

TEST_P(CliHistoryTest, WithoutItsTableIsBegunAnewByOneCommand) {
  execute("drop table shared_lock_event");
  const auto begun = run(rowlock("migrate", {"--with", "history"}));
  ASSERT_EQ(begun.code, 0) << begun.errors;
  lock_table{*rows_}.try_acquire(key_)->release();
  EXPECT_EQ(all_events(), 1);
}

TEST_P(CliHistoryTest, IsReadNewestFirstWithGrantsAndTheHoldThatLasts) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  locks.try_acquire(key_, {.correlation_id = "request 7"})->release();
  const auto held = locks.try_acquire(key_);
  const auto page = rows_->history();
  ASSERT_TRUE(page.is_recorded);
  ASSERT_EQ(page.events.size(), 3U);
  EXPECT_EQ(page.events[0].what, "granted");
  EXPECT_EQ(page.events[0].version, held->token());
  EXPECT_EQ(page.events[1].what, "released");
  EXPECT_EQ(page.events[1].token, page.events[2].version);
  EXPECT_EQ(page.events[1].since, page.events[2].at);
  EXPECT_TRUE(page.events[1].held_for);
  EXPECT_EQ(page.events[1].until.size(), page.events[1].at.size());
  EXPECT_EQ(page.events[2].what, "granted");
  for (const auto& event : page.events) {
    EXPECT_EQ(event.key, key_);
    EXPECT_EQ(event.holder, "worker-a");
    EXPECT_EQ(event.at.size(), 26U);
  }
  EXPECT_EQ(page.events[2].correlation_id, "request 7");
}

TEST_P(CliHistoryTest, IsReadInPagesOfWhichNoneMissesOrRepeatsAnEvent) {
  lock_table locks{*rows_};
  for (int number = 0; number < 5; ++number) {
    for (const auto* type : {"a", "b"}) locks.try_acquire({type, "1"})->release();
  }
  const auto all = rows_->history().events;
  ASSERT_EQ(all.size(), 20U);
  for (const bool is_of_key : {false, true}) {
    history_request request{.limit = 3};
    if (is_of_key) request.type = "b";
    if (is_of_key) request.source_id = "1";
    std::vector<std::string> seen;
    while (seen.size() <= all.size()) {
      const auto page = rows_->history(request).events;
      for (const auto& event : page) {
        seen.push_back(event.key.type + ' ' + std::to_string(event.version.number) + event.what);
      }
      if (page.size() < 3) break;
      request.before = page.back();
    }
    EXPECT_EQ(seen.size(), is_of_key ? 10U : 20U);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
  }
}

TEST_P(CliHistoryTest, IsReadOfWhatIsAskedForAlone) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  lock_table others{*rows_, {.holder = "worker-\u00e4"}};
  locks.try_acquire({"job", "1"})->release();
  others.try_acquire({"job", "2"})->release();
  const auto count = [&](const history_request& request) {
    return rows_->history(request).events.size();
  };
  EXPECT_EQ(count({}), 4U);
  EXPECT_EQ(count({.holder = "worker-\u00e4"}), 2U);
  EXPECT_EQ(count({.holder = "worker-b"}), 0U);
  EXPECT_EQ(count({.what = "granted"}), 2U);
  EXPECT_EQ(count({.what = "released"}), 2U);
  EXPECT_EQ(count({.what = "forced"}), 0U);
  EXPECT_EQ(count({.type = "job"}), 4U);
  EXPECT_EQ(count({.source_id = "2"}), 2U);
  EXPECT_EQ(count({.type = "job", .source_id = "1"}), 2U);
  EXPECT_EQ(count({.type = "job", .source_id = "1", .holder = "worker-\u00e4"}), 0U);
}

TEST_P(CliHistoryTest, IsReadBetweenTwoTimes) {
  using namespace std::chrono;
  lock_table locks{*rows_};
  for (int second = 0; second < 3; ++second) {
    locks.try_acquire(key_)->release();
    const std::string time = "'2026-01-31 12:00:0" + std::to_string(second) + ".000'";
    execute("update shared_lock_event set at = " + time + " where at > '2026-02-01 00:00:00.000'");
  }
  const database_time noon{sys_days{2026y / 1 / 31} + 12h};
  const auto count = [&](std::optional<database_time> since, std::optional<database_time> until) {
    const history_request request{.what = "released", .since = since, .until = until};
    return rows_->history(request).events.size();
  };
  EXPECT_EQ(count({}, {}), 3U);
  EXPECT_EQ(count(noon, noon), 1U);
  EXPECT_EQ(count(noon + 1s, {}), 2U);
  EXPECT_EQ(count(noon + 1s + 1us, {}), 1U);
  EXPECT_EQ(count({}, noon + 1s), 2U);
  EXPECT_EQ(count({}, noon + 1s - 1us), 1U);
  const words between{
      "--what", "released", "--since", "2026-01-31T12:00:01Z", "--until", "2026-01-31 12:00:01.5",
      "--json"};
  EXPECT_EQ(nlohmann::json::parse(run(rowlock("history", between)).output).size(), 1U);
}

TEST_P(CliHistoryTest, IsReadOfTheDayBeforeItsEnd) {
  lock_table locks{*rows_};
  for (const auto* time : {"'2026-01-31 11:00:00.000'", "'2026-01-29 11:00:00.000'"}) {
    locks.try_acquire(key_)->release();
    execute("update shared_lock_event set at = " + std::string{time} +
            " where at > '2026-02-01 00:00:00.000'");
  }
  const auto read =
      run(rowlock("history", {"--what", "released", "--until", "2026-01-31T12:00:00Z", "--json"}));
  ASSERT_EQ(read.code, 0) << read.errors;
  EXPECT_EQ(nlohmann::json::parse(read.output).size(), 1U);
  for (const auto& period :
       {words{"--until", "2d"}, {"--since", "1h", "--until", "9000-01-01T00:00:00Z"}}) {
    EXPECT_EQ(run(rowlock("history", period)).code, 0) << period.back();
  }
}

TEST_P(CliHistoryTest, AsksTheDatabaseForItsTime) {
  const auto held = acquire("worker-a");
  ASSERT_TRUE(held.version);
  const auto shown = cli::parse_database_time(show(*rows_, key_)->acquired_at);
  ASSERT_TRUE(shown);
  EXPECT_LT(std::chrono::abs(rows_->now() - *shown), 1h);
}

TEST_P(CliHistoryTest, IsShownToPeopleAndPrograms) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  locks.try_acquire(key_)->release();
  force_release(*rows_, key_, acquire("worker-b").version.value(), "its host is gone", "ann");
  const auto shown = run(rowlock("history"));
  EXPECT_EQ(shown.code, 0) << shown.errors;
  EXPECT_THAT(shown.output, testing::ContainsRegex("AT .UTC. +WHAT +KEY +HOLDER +HELD +DETAILS\n"));
  EXPECT_THAT(shown.output,
              testing::ContainsRegex("20..-..-.. ..:..:..\\.... +forced +invoice/42 +worker-b +"
                                     "[0-9.]+s +its host is gone .by ann.\n"));
  const auto forced =
      nlohmann::json::parse(run(rowlock("history", {"--what", "forced", "--json"})).output);
  ASSERT_EQ(forced.size(), 1U);
  EXPECT_EQ(forced[0].at("holder"), "worker-b");
  EXPECT_EQ(forced[0].at("reason"), "its host is gone (by ann)");
  EXPECT_TRUE(forced[0].at("held_ms").is_number());
  EXPECT_EQ(run(rowlock("history", {"--what", "ran-out"})).code, 0);
  const auto limited = run(rowlock("history", {"--limit", "2"}));
  EXPECT_THAT(limited.errors, HasSubstr("the newest 2, and there are more"));
  EXPECT_EQ(std::count(limited.output.begin(), limited.output.end(), '\n'), 3);
  EXPECT_EQ(
      run(rowlock("history", {"--type", "nothing", "--since", "2026-01-31T12:00:00Z"})).output,
      "no such event since 2026-01-31T12:00:00.000000Z\n");
}

TEST_P(CliHistoryTest, RejectsWhatItCannotAnswer) {
  EXPECT_EQ(run(rowlock("history", {"--what", "stolen"})).code, 64);
  EXPECT_EQ(run(rowlock("history", {"--what", "ran"})).code, 64);
  EXPECT_EQ(run(rowlock("history", {"--since", "1h", "--until", "2h"})).code, 64);
  const auto no_time = run(rowlock("history", {"--since", "yesterday"}));
  EXPECT_EQ(no_time.code, 64);
  EXPECT_THAT(no_time.errors, HasSubstr("2026-01-31T12:00:00Z"));
  EXPECT_EQ(run(rowlock("history", {"--since", "1969-12-31T23:59:59Z"})).code, 64);
  EXPECT_EQ(run(rowlock("history", {"--limit", "0"})).code, 64);
  EXPECT_EQ(run(rowlock("history", {"--type", "no type"})).code, 64);
}

TEST_P(CliHistoryTest, ShowsNoMarkupOfTerminalsThatAHolderWrote) {
  acquire("a\x1b[31m\u202e");
  EXPECT_THAT(run(rowlock("history")).output, testing::Not(HasSubstr("\x1b")));
}

TEST_P(CliHistoryTest, IsPurgedOfOldEventsInBatches) {
  lock_table locks{*rows_};
  for (int number = 0; number < 5; ++number) locks.try_acquire(key_)->release();
  execute("update shared_lock_event set at = '2020-01-01 00:00:00.000'");
  locks.try_acquire(key_)->release();
  const auto batched = purge_history(*rows_, 1h, 2);
  EXPECT_EQ(batched.purged, 5U);
  EXPECT_TRUE(batched.is_complete);
  EXPECT_EQ(all_events(), 1);
  execute("update shared_lock_event set at = '2020-01-01 00:00:00.000'");
  const auto purged = run(rowlock("purge", {"--history", "--older-than", "30d", "--yes"}));
  EXPECT_EQ(purged.code, 0) << purged.errors;
  EXPECT_EQ(purged.output, "purged 1 event\n");
  EXPECT_EQ(run(rowlock("purge", {"--history", "--older-than", "59m", "--yes"})).code, 64);
}

ROWLOCK_ON_EVERY_DATABASE(CliHistoryTest);

class CliWithoutHistoryTest : public LockedCliTest {};

TEST_P(CliWithoutHistoryTest, SaysHowToBeginOne) {
  const auto refused = run(rowlock("history"));
  EXPECT_EQ(refused.code, 69);
  EXPECT_THAT(refused.errors, HasSubstr("--with history"));
  EXPECT_FALSE(open()->history().is_recorded);
  EXPECT_EQ(open()->purge_history({.older_than = 1h}), 0U);
}

ROWLOCK_ON_EVERY_DATABASE(CliWithoutHistoryTest);

class CliMigrateOptionTest : public CliTest {};

TEST_P(CliMigrateOptionTest, IsMisuseIfItIsUnknownOrBothBegunAndEnded) {
  EXPECT_EQ(run(rowlock("migrate", {"--with", "hystory"})).code, 64);
  EXPECT_EQ(run(rowlock("migrate", {"--with", "history", "--without", "history"})).code, 64);
  EXPECT_EQ(run(rowlock("migrate", {"--with"})).code, 64);
}

TEST_P(CliMigrateOptionTest, IsPrintedBehindTheTable) {
  const auto all = run(rowlock("migrate", {"--print", "--with", "history"})).output;
  const auto table = run(rowlock("migrate", {"--print"})).output;
  EXPECT_TRUE(all.starts_with(table));
  EXPECT_THAT(all, HasSubstr("CREATE TRIGGER"));
  const auto without = run(rowlock("migrate", {"--print", "--without", "history"})).output;
  EXPECT_THAT(without, HasSubstr("DROP TRIGGER"));
  EXPECT_THAT(without, testing::Not(HasSubstr("CREATE")));
}

ROWLOCK_ON_EVERY_DATABASE(CliMigrateOptionTest);

}  // namespace

}  // namespace rowlock::tests
