// rowlock run: a command runs only under the lock, and as if it had been run without us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr auto until_line = "echo started; read line";

class CliRunTest : public LockedCliTest {};

TEST_P(CliRunTest, TheCommandIsToldWhatIsLockedForIt) {
  child_process running{
      script_under_lock("echo $ROWLOCK_TYPE $ROWLOCK_SOURCE $ROWLOCK_TOKEN; read line")};
  const auto line = running.read_line();
  const auto version = number("select version from shared_lock");
  EXPECT_EQ(line, "invoice 42 " + std::to_string(version));
}

TEST_P(CliRunTest, TokensRise) {
  const auto first = run(script_under_lock("echo $ROWLOCK_TOKEN")).output;
  const auto second = run(script_under_lock("echo $ROWLOCK_TOKEN")).output;
  EXPECT_LT(std::stoll(first), std::stoll(second));
}

TEST_P(CliRunTest, VariablesOfAnOuterRunAreReplaced) {
  const auto nested = run(words{"env", "ROWLOCK_TYPE=outer", "ROWLOCK_TOKEN=1"} +
                          script_under_lock("env | grep -c ^ROWLOCK_TYPE=; echo $ROWLOCK_TYPE"));
  EXPECT_EQ(nested.output, "1\ninvoice\n");
}

TEST_P(CliRunTest, TheExitCodeIsTheCommands) {
  EXPECT_EQ(run(under_lock({"true"})).code, 0);
  EXPECT_EQ(run(script_under_lock("exit 3")).code, 3);
}

TEST_P(CliRunTest, ASignalThatEndsTheCommandIs128AndItsNumber) {
  EXPECT_EQ(run(script_under_lock("kill -KILL $$")).code, 128 + SIGKILL);
}

TEST_P(CliRunTest, TheExitCodeIsKnownToAParentThatIgnoresChildren) {
  EXPECT_EQ(run(words{"env", "--ignore-signal=CHLD"} + script_under_lock("exit 3")).code, 3);
}

TEST_P(CliRunTest, TheRowIsUnsetHoweverTheCommandEnds) {
  for (const auto* script : {"exit 0", "exit 3", "kill -KILL $$", "exec /dev/null"}) {
    run(script_under_lock(script));
    EXPECT_EQ(list(), "no key is held\n") << script;
  }
}

TEST_P(CliRunTest, AFailureOfTheCommandIsCounted) {
  run(script_under_lock("exit 0"));
  EXPECT_EQ(number("select failure_count from shared_lock"), 0);
  run(script_under_lock("exit 3"));
  EXPECT_EQ(number("select failure_count from shared_lock"), 1);
}

TEST_P(CliRunTest, StandardStreamsPassThrough) {
  child_process running{script_under_lock("cat; echo problem >&2")};
  running.write_line("one");
  EXPECT_EQ(running.read_line(), "one");
  running.write_line("two");
  EXPECT_EQ(running.read_line(), "two");
  running.close_input();
  const auto left = result_of(running);
  EXPECT_EQ(left.output, "");
  EXPECT_EQ(left.errors, "problem\n");
  EXPECT_EQ(left.code, 0);
}

TEST_P(CliRunTest, TheCommandHasTheDescriptorsItWouldHaveWithoutUs) {
  const words show{"sh", "-c", "ls /proc/self/fd; exec ls /proc/self/fd 5</dev/null"};
  EXPECT_EQ(run(under_lock(show)).output, run(show).output);
  const std::string given = "exec 7</dev/null; exec \"$@\"";
  EXPECT_EQ(run(words{"sh", "-c", given, "sh"} + under_lock(show)).output,
            run(words{"sh", "-c", given, "sh"} + show).output);
}

TEST_P(CliRunTest, ArgumentsAreHandedOnAsTheyAre) {
  const auto shown = run(under_lock({"printf", "%s|", "[1,2]", "", "--ttl", "--", "a b", "-h"}));
  EXPECT_EQ(shown.output, "[1,2]||--ttl|--|a b|-h|");
}

TEST_P(CliRunTest, AnUnknownCommandIs127AndNothingIsWritten) {
  for (const auto* unknown : {"no-such-command", "/no/such/command", ""}) {
    const auto refused = run(under_lock({unknown}));
    EXPECT_EQ(refused.code, 127);
    EXPECT_THAT(refused.errors, HasSubstr("rowlock: "));
  }
  EXPECT_EQ(number("select count(*) from shared_lock"), 0);
}

TEST_P(CliRunTest, ACommandThatCannotBeRunIs126AndNothingIsWritten) {
  const temp_folder folder;
  const std::string text = folder.path() / "text";
  std::ofstream{text} << "no program\n";
  for (const auto& not_runnable : {text, folder.path().string()}) {
    const auto refused = run(under_lock({not_runnable}));
    EXPECT_EQ(refused.code, 126);
    EXPECT_THAT(refused.errors, HasSubstr("cannot be run"));
  }
  EXPECT_EQ(number("select count(*) from shared_lock"), 0);
}

TEST_P(CliRunTest, ACommandThatTheKernelRefusesIs126AndTheRowIsUnset) {
  const temp_folder folder;
  const std::string script = folder.path() / "script";
  std::ofstream{script} << "#!/no/such/interpreter\n";
  chmod(script.c_str(), 0755);
  const auto refused = run(under_lock({script}));
  EXPECT_EQ(refused.code, 126);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr(script), HasSubstr("cannot be run")));
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliRunTest, AScriptWithoutAnInterpreterIsForTheShell) {
  const temp_folder folder;
  const std::string script = folder.path() / "script";
  std::ofstream{script} << "echo $0 $1\n";
  chmod(script.c_str(), 0755);
  EXPECT_EQ(run(under_lock({script, "hello"})).output, script + " hello\n");
}

TEST_P(CliRunTest, AHeldKeyIsRefusedSayingByWhomAndForHowLong) {
  child_process holder{script_under_lock(until_line, {"--holder", "worker-a"})};
  ASSERT_TRUE(holder.read_line());
  const auto refused = run(script_under_lock("echo running"));
  EXPECT_EQ(refused.code, 75);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(
      refused.errors,
      testing::MatchesRegex("rowlock: invoice/42 is held by worker-a, .+ s of its lease left\n"));
}

TEST_P(CliRunTest, TheExitCodeOfARefusalCanBeChosen) {
  child_process holder{script_under_lock(until_line)};
  ASSERT_TRUE(holder.read_line());
  EXPECT_EQ(run(under_lock({"true"}, {"-E", "1"})).code, 1);
  EXPECT_EQ(run(under_lock({"true"}, {"--conflict-exit-code", "0"})).code, 0);
}

TEST_P(CliRunTest, AWaitThatIsOverIsARefusalSayingByWhom) {
  child_process holder{script_under_lock(until_line, {"--holder", "worker-a"})};
  ASSERT_TRUE(holder.read_line());
  const auto refused = run(script_under_lock("echo running", {"--wait", "100ms"}));
  EXPECT_EQ(refused.code, 75);
  EXPECT_THAT(refused.errors, HasSubstr("worker-a"));
}

TEST_P(CliRunTest, AWaiterGetsTheKeyWhenItIsReleased) {
  for (const auto* wait : {"1m", "forever"}) {
    child_process holder{script_under_lock(until_line)};
    ASSERT_TRUE(holder.read_line());
    child_process waiter{script_under_lock("echo mine", {"--wait", wait})};
    holder.write_line("done");
    EXPECT_EQ(waiter.read_line(), "mine");
    EXPECT_EQ(waiter.wait(), 0);
    EXPECT_EQ(holder.wait(), 0);
  }
}

TEST_P(CliRunTest, TheKeyStaysHeldForLongerThanTheTtl) {
  // A busy machine may stop the holder for seconds.
  child_process holder{script_under_lock(until_line, {"--ttl", "6s"})};
  ASSERT_TRUE(holder.read_line());
  EXPECT_EQ(run(under_lock({"true"}, {"--wait", "7s"})).code, 75);
  holder.write_line("done");
  EXPECT_EQ(holder.wait(), 0);
}

TEST_P(CliRunTest, NoConnectionOfOursBecomesTheStandardErrorWhenThatIsClosed) {
  const temp_folder folder;
  const std::string seen = folder.path() / "seen";
  const auto ours = run(words{"sh", "-c", R"(exec "$@" <&- >&- 2>&-)", "sh"} +
                        script_under_lock("readlink /proc/$PPID/fd/2 > " + seen));
  EXPECT_EQ(ours.code, 0);
  std::string descriptor;
  std::getline(std::ifstream{seen}, descriptor);
  EXPECT_EQ(descriptor, "/dev/null");
}

TEST_P(CliRunTest, OtherKeysAreNotInTheWay) {
  child_process holder{script_under_lock(until_line)};
  ASSERT_TRUE(holder.read_line());
  EXPECT_EQ(run(under_lock({"true"}, {"--source=43"})).code, 64) << "a source is given once";
  EXPECT_EQ(run(rowlock("run", {"--type", "invoice", "--source", "43", "--", "true"})).code, 0);
}

ROWLOCK_ON_EVERY_DATABASE(CliRunTest);

class CliRunOnPostgresTest : public LockedCliTest {};

TEST_P(CliRunOnPostgresTest, ADurableReleaseWaitsForTheDisk) {
  execute("create table shared_lock_seen (waits boolean)");
  execute(
      "create function shared_lock_see() returns trigger language plpgsql as 'begin insert into"
      " shared_lock_seen values (current_setting(''synchronous_commit'') <> ''off''); return new;"
      " end'");
  execute(
      "create trigger see after update on shared_lock for each row when (new.owner is null)"
      " execute function shared_lock_see()");
  run(under_lock({"true"}));
  EXPECT_EQ(number("select count(*) from shared_lock_seen where waits"), 0);
  run(under_lock({"true"}, {"--durable-release"}));
  EXPECT_EQ(number("select count(*) from shared_lock_seen where waits"), 1);
}

INSTANTIATE_TEST_SUITE_P(, CliRunOnPostgresTest,
                         testing::Values(cli_database_kind{"Postgres", make_postgres_database}),
                         testing::PrintToStringParamName());

}  // namespace

}  // namespace rowlock::tests
