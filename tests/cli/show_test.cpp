// rowlock show: everything that is known of one key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/duration.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class CliShowTest : public LockedCliTest {
 protected:
  [[nodiscard]] result show(const words& options = {}) const {
    return run(rowlock("show", words{"--type", "invoice", "--source", "42"} + options));
  }
  [[nodiscard]] json show_as_json() const { return json::parse(show({"--json"}).output); }

  const lock_key key_{"invoice", "42"};
  const std::unique_ptr<store> rows_ = open();
};

TEST(ShownDuration, OfATimeAheadOfTheClockIsNegative) {
  EXPECT_EQ(cli::show_duration(-12'500ms), "-12.5s");
  EXPECT_EQ(cli::show_duration(-(2h + 5min)), "-2h 5m");
}

TEST_P(CliShowTest, SaysThatThereIsNoRow) {
  const auto missing = show();
  EXPECT_EQ(missing.code, 66);
  EXPECT_EQ(missing.output, "");
  EXPECT_THAT(missing.errors, HasSubstr("rowlock: invoice/42 has no row"));
  const auto for_programs = show({"--json"});
  EXPECT_EQ(for_programs.code, 66);
  EXPECT_EQ(for_programs.output, "null\n");
}

TEST_P(CliShowTest, TellsPeopleWhatThereIsToTell) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  auto held = locks.try_acquire(key_, {.note = "step 1\nof 3", .correlation_id = "request 7"});
  const auto shown = show();
  EXPECT_EQ(shown.code, 0) << shown.errors;
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("key        invoice/42\nstate      held\n"),
                    HasSubstr("holder     worker-a\n"),
                    ContainsRegex("since      20..-..-.. ..:..:.. UTC, [0-9.]+s ago\n"),
                    ContainsRegex("alive      granted [0-9.]+s ago, lease 30.0s\n"),
                    HasSubstr("id         request 7\n"), Not(HasSubstr("last")),
                    ContainsRegex("remaining  [0-9.]+s\n"),
                    HasSubstr("version    " + std::to_string(held->token().number) + '\n'),
                    HasSubstr("note       step 1\\nof 3\n"), HasSubstr("failures   0\n"),
                    Not(HasSubstr("done")), Not(HasSubstr("forced"))));
  held->release();
  EXPECT_THAT(show().output, AllOf(HasSubstr("state      free\n"), Not(HasSubstr("holder")),
                                   Not(HasSubstr("remaining")), Not(HasSubstr("alive")),
                                   ContainsRegex("last       worker-a, from 20.* to 20.* UTC "
                                                 "\\([0-9.]+s\\), released\n")));
}

TEST_P(CliShowTest, TellsARenewedLeaseFromOneWithoutASign) {
  const acquire_request request{
      .key = key_, .owner = make_owner_id(), .holder = "worker-a", .ttl = 2h};
  rows_->acquire(std::array{request});
  // As if it had been granted for five hours, three hours ago.
  database_->execute("update " + in_table("shared_lock") + " set ttl_us = 3600000000 * 5");
  EXPECT_THAT(show().output, ContainsRegex("alive      no sign for 3h 0m, lease 5h 0m\n"));
  EXPECT_THAT(show_as_json().at("sign_of_life_ms").get<int>(), testing::Ge(3 * 3'600'000));
  database_->execute("update " + in_table("shared_lock") + " set ttl_us = 7200000000");
  EXPECT_THAT(show().output, ContainsRegex("alive      granted [0-9.]+s ago, lease 2h 0m\n"));
}

TEST_P(CliShowTest, TellsALeaseWithMoreTimeLeftThanItLasts) {
  const acquire_request request{
      .key = key_, .owner = make_owner_id(), .holder = "worker-a", .ttl = 2h};
  rows_->acquire(std::array{request});
  EXPECT_EQ(show_as_json().at("clock_fault"), false);
  // As if the database's clock had been set back by nearly two hours since.
  database_->execute("update " + in_table("shared_lock") + " set ttl_us = 1000000");
  EXPECT_THAT(show().output, ContainsRegex("alive      clock fault: .* lease of 1.0s; .* --force"));
  EXPECT_EQ(show_as_json().at("clock_fault"), true);
  EXPECT_THAT(run(rowlock("list")).output, HasSubstr("clock fault"));
  const auto checked = run(rowlock("doctor"));
  EXPECT_EQ(checked.code, 75) << checked.output;
  EXPECT_THAT(checked.output, ContainsRegex("warning  time_left .*clock fault: 1 lease has .*"
                                            "invoice/42: .*--force"));
  EXPECT_EQ(run(rowlock("release", {"--type", "invoice", "--source", "42", "--force", "--reason",
                                    "the clock was set back", "--yes"}))
                .code,
            0);
  EXPECT_THAT(show().output, HasSubstr("state      free\n"));
}

TEST_P(CliShowTest, SaysWhoHadAFreeKeyLastAndHowThatEnded) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  EXPECT_THROW((void)locks.with_lock(key_, [](const lease&) { throw std::domain_error{"failed"}; }),
               std::domain_error);
  EXPECT_THAT(show().output, ContainsRegex("last       worker-a, .*, failed\n"));
  const auto last = show_as_json().at("last");
  EXPECT_EQ(last.at("holder"), "worker-a");
  EXPECT_EQ(last.at("how"), "failed");
  EXPECT_TRUE(last.at("held_ms").is_number());
  EXPECT_THAT(last.at("from").get<std::string>(), ContainsRegex("^20..-..-..T.*Z$"));
  EXPECT_THAT(last.at("until").get<std::string>(), ContainsRegex("^20..-..-..T.*Z$"));
}

TEST_P(CliShowTest, GivesProgramsEveryField) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  const auto done = locks.with_lock_once(key_, [](const lease& held) { return held.token(); },
                                         {.keep_for = 1h, .acquire = {.note = "sent"}});
  const auto held = locks.try_acquire(key_);
  ASSERT_EQ(force_release(*rows_, key_, held->token(), "gone", "ann").answer,
            force_answer::released);
  const auto row = show_as_json();
  EXPECT_EQ(row.at("type"), "invoice");
  EXPECT_EQ(row.at("source"), "42");
  EXPECT_EQ(row.at("state"), "free");
  EXPECT_EQ(row.at("holder"), "");
  EXPECT_EQ(row.at("since"), nullptr);
  EXPECT_EQ(row.at("remaining_ms"), 0);
  EXPECT_GT(row.at("version"), held->token().number);
  EXPECT_EQ(row.at("note"), "sent");
  EXPECT_EQ(row.at("done").at("by"), done->number);
  EXPECT_THAT(row.at("done").at("at").get<std::string>(), ContainsRegex("^20..-..-..T.*Z$"));
  EXPECT_GT(row.at("done").at("remaining_ms"), 3'500'000);
  EXPECT_EQ(row.at("failures"), 0);
  EXPECT_EQ(row.at("expiries"), 0);
  EXPECT_EQ(row.at("force_reason"), "gone (by ann)");
  EXPECT_EQ(row.at("forced").at("from"), "worker-a");
  EXPECT_EQ(row.at("forced").at("reason"), "gone (by ann)");
  EXPECT_EQ(row.at("last").at("how"), "forced");
  EXPECT_EQ(row.at("held_ms"), nullptr);
  EXPECT_EQ(row.at("ttl_ms"), nullptr);
  EXPECT_EQ(row.at("sign_of_life_ms"), nullptr);
  EXPECT_EQ(row.at("correlation_id"), "");
  EXPECT_EQ(row.at("waited_for"), false);
  EXPECT_EQ(row.at("used_by"), nullptr);
  EXPECT_EQ(row.at("asked"), nullptr);
  EXPECT_EQ(row.size(), 22U);
  EXPECT_THAT(show().output,
              AllOf(ContainsRegex("done       20.* UTC by version [0-9]+, remember"),
                    ContainsRegex("forced     20.* UTC, from worker-a: gone \\(by ann\\)\n")));
}

TEST_P(CliShowTest, SaysThatATransactionHasAFreeRow) {
  lock_table locks{*rows_};
  locks.try_acquire(key_)->release();
  const auto transaction = database_->lock_rows_of(in_table("shared_lock"));
  const auto shown = show();
  EXPECT_EQ(shown.code, 0) << shown.errors;
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("state      busy\n"), ContainsRegex("used by    .*transaction")));
  EXPECT_EQ(show_as_json().at("state"), "busy");
  EXPECT_THAT(show_as_json().at("used_by").get<std::string>(), HasSubstr("transaction"));
  const auto refused = run(rowlock(
      "release", {"--type", "invoice", "--source", "42", "--force", "--reason", "why", "--yes"}));
  EXPECT_EQ(refused.code, 75);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("it is busy: "), HasSubstr("transaction")));
}

TEST_P(CliShowTest, SaysThatATransactionHasAHeldRow) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  const auto held = locks.try_acquire(key_);
  const auto transaction = database_->lock_rows_of(in_table("shared_lock"));
  EXPECT_THAT(show().output,
              AllOf(HasSubstr("state      held\n"), ContainsRegex("used by    .*transaction"),
                    HasSubstr("holder     worker-a\n")));
}

TEST_P(CliShowTest, ShowsAKeyWithinAScope) {
  lock_table locks{*rows_};
  const auto held = locks.within("eu-1").try_acquire(key_);
  const auto shown = run(rowlock("show", {"--type", "eu-1/invoice", "--source", "42"}));
  EXPECT_EQ(shown.code, 0) << shown.errors;
  EXPECT_EQ(show().code, 66);
}

ROWLOCK_ON_EVERY_DATABASE(CliShowTest);

}  // namespace

}  // namespace rowlock::tests
