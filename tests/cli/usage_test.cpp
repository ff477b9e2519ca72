// Wrong usage is refused with 64 and says what is right; nothing is connected to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cli_test.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// No server listens there, so what gets as far as connecting ends with 69.
constexpr auto nowhere = "postgresql://app:sesame@127.0.0.1:1/shop";

result run_under(const words& options) {
  return run_rowlock(words{"run", nowhere} + options + words{"--", "true"});
}

result run_with(const words& options) {
  return run_under(words{"--type", "invoice", "--source", "42"} + options);
}

TEST(CliUsageTest, HelpSaysHowToBegin) {
  const auto help = run_rowlock({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const auto* word : {"migrate", "doctor", "run", "lead", "list", "top", "show", "history",
                           "release", "purge", "serve", "report", "sqlite:///", "postgresql://"}) {
    EXPECT_THAT(help.output, HasSubstr(word));
  }
}

TEST(CliUsageTest, HelpOfRunNamesEveryExitCode) {
  const auto help = run_rowlock({"run", "--help"});
  EXPECT_EQ(help.code, 0);
  for (const auto* code : {"64 ", "69 ", "70 ", "75 ", "76 ", "126 ", "127 ", "128 + n"}) {
    EXPECT_THAT(help.output, HasSubstr(code));
  }
}

TEST(CliUsageTest, VersionIsOneLine) {
  const auto version = run_rowlock({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.output, testing::MatchesRegex("rowlock [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CliUsageTest, ASubcommandIsNeeded) {
  const auto refused = run_rowlock({});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, HasSubstr("see rowlock --help"));
}

TEST(CliUsageTest, AnUnknownOptionIsNamedWithoutItsValue) {
  const auto refused = run_rowlock({"list", nowhere, "--passwort=sesame"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.errors, "rowlock: unknown option --passwort; see rowlock list --help\n");
}

TEST(CliUsageTest, AMistypedOptionIsNamedWhereSomethingElseIsMissingForThat) {
  for (const auto& [wrong, message] :
       {std::pair{words{"--verson"}, "unknown option --verson; see rowlock --help"},
        {words{"-x"}, "unknown option -x; see rowlock --help"},
        {words{"show", nowhere, "--type", "a", "--sorce=b"},
         "unknown option --sorce; see rowlock show --help"}}) {
    const auto refused = run_rowlock(wrong);
    EXPECT_EQ(refused.code, 64);
    EXPECT_EQ(refused.errors, std::string{"rowlock: "} + message + '\n');
  }
}

TEST(CliUsageTest, TheCommandStandsAfterTwoDashes) {
  const words run{"run", nowhere, "--type", "a", "--source", "b"};
  for (const auto& [command, first] : {std::pair{words{"sync-invoices"}, "an argument too many"},
                                       {words{"sh", "-c", "true"}, "unknown option -c"}}) {
    const auto refused = run_rowlock(run + command);
    EXPECT_EQ(refused.code, 64);
    EXPECT_EQ(refused.errors, std::string{"rowlock: "} + first +
                                  ": the command to run and its options stand after --; see "
                                  "rowlock run --help\n");
  }
  EXPECT_EQ(run_rowlock({"run", nowhere, "sh", "-c", "true"}).errors,
            "rowlock: unknown option -c: the command to run and its options stand after --; see "
            "rowlock run --help\n");
  EXPECT_EQ(run_with({"--tpye", "a"}).errors,
            "rowlock: unknown option --tpye; see rowlock run --help\n");
}

TEST(CliUsageTest, AnArgumentTooManyIsNotShown) {
  const auto refused = run_rowlock({"list", "host=db", "password=sesame"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("an argument too many"), Not(HasSubstr("sesame"))));
}

TEST(CliUsageTest, AUrlThatStandsWhereAValueIsExpectedIsNotShown) {
  const std::string url = "postgresql://app:sesame@db/shop";
  for (const auto& wrong :
       {words{"list", "--json=" + url}, words{"migrate", "--print=" + url},
        words{"list", "--" + url}, words{"list", nowhere, "--limit", url},
        words{"run", nowhere, "--type", "a", "--source", "b", "--ttl", url, "--", "true"}}) {
    const auto refused = run_rowlock(wrong);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("rowlock: "), Not(HasSubstr("sesame"))));
  }
}

TEST(CliUsageTest, RunNeedsACommand) {
  for (const auto& end : {words{}, words{"--"}}) {
    const auto refused =
        run_rowlock(words{"run", nowhere, "--type", "invoice", "--source", "42"} + end);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.errors, HasSubstr("no command to run: write it after --"));
  }
}

TEST(CliUsageTest, OnlyRunAndLeadTakeACommand) {
  EXPECT_EQ(run_rowlock({"list", nowhere, "--", "true"}).code, 64);
}

TEST(CliUsageTest, RunNeedsTypeAndSource) {
  EXPECT_THAT(run_under({"--source", "42"}).errors, HasSubstr("--type is required"));
  EXPECT_THAT(run_under({"--type", "invoice"}).errors, HasSubstr("--source is required"));
}

TEST(CliUsageTest, AUrlThatIsNoneIsRefusedWithoutBeingShown) {
  for (const auto* url :
       {"", "sesame", "oracle://app:sesame@db/shop", "app:sesame@db/shop", "sqlite://sesame.db",
        "sqlite:///sesame.db?mode=ro", "sqlite:///sesame/", "sqlite:///sesame%zz"}) {
    const auto refused = run_rowlock({"list", url});
    EXPECT_EQ(refused.code, 64) << url;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("rowlock: "), Not(HasSubstr("sesame"))));
  }
}

TEST(CliUsageTest, AnOptionWithoutItsValueAndOneTooManyAreNamed) {
  EXPECT_EQ(run_rowlock({"list", nowhere, "--table"}).errors,
            "rowlock: --table needs a value; see rowlock list --help\n");
  EXPECT_THAT(run_rowlock({"list", nowhere, "--url-file", "url"}).errors,
              HasSubstr(" cannot be given with "));
}

TEST(CliUsageTest, LocalhostIsTheSocketOfMariadb) {
  for (const auto& [host, is_socket] : {std::pair{"localhost", true}, {"127.0.0.1", false}}) {
    const auto refused = run({"env", "MYSQL_UNIX_PORT=/nowhere", ROWLOCK_COMMAND, "list",
                              std::string{"mysql://app@"} + host + ":1/shop"});
    EXPECT_EQ(refused.code, 69) << refused.errors;
    EXPECT_EQ(refused.errors.find("write 127.0.0.1 for TCP") != std::string::npos, is_socket)
        << refused.errors;
  }
}

TEST(CliUsageTest, ADurationHasAUnit) {
  const auto refused = run_with({"--ttl", "30"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.errors, "rowlock: --ttl '30' has no unit: write 30s for seconds, or m, h, d\n");
}

TEST(CliUsageTest, ADurationIsAWholeNumberAndAUnit) {
  for (const auto* wrong : {"", "s", "-", "-s", "1.5s", "5 s", "5sec", "1h30m", "soon", "5S"}) {
    const auto refused = run_with({"--wait", wrong});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("is not a duration"), HasSubstr("or forever")));
  }
}

TEST(CliUsageTest, ADurationIsNotNegative) {
  const auto refused = run_with({"--wait", "-1s"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.errors, "rowlock: --wait '-1s' is negative: a duration is zero or more\n");
}

TEST(CliUsageTest, ATtlThatIsTooShortIsRefusedWithTheShortest) {
  const auto refused = run_with({"--ttl", "10ms"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("--ttl 10ms is too short: write more than"),
                                    Not(HasSubstr("margin"))));
}

TEST(CliUsageTest, ACommandThatThereIsNotIsNamed) {
  for (const auto& wrong : {words{"rnu"}, words{"rnu", nowhere, "--type", "a", "--", "true"}}) {
    const auto refused = run_rowlock(wrong);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(
        refused.errors,
        AllOf(HasSubstr("rowlock: rnu is not a command of rowlock: write migrate, doctor, run, "),
              HasSubstr(" or completion; see rowlock --help\n")));
  }
  EXPECT_THAT(run_rowlock({nowhere}).errors, Not(HasSubstr("sesame")));
}

TEST(CliUsageTest, AnEmptyValueIsNotTheNextArgument) {
  for (const auto* option : {"--type", "--source"}) {
    const std::string other = option == std::string{"--type"} ? "--source" : "--type";
    for (const auto& empty : {words{std::string{option} + '='}, words{option, ""}}) {
      for (const auto& refused : {run_under(empty + words{other, "a"}),
                                  run_rowlock(words{"show", nowhere, other, "a"} + empty)}) {
        EXPECT_EQ(refused.code, 64) << option;
        EXPECT_THAT(refused.errors, HasSubstr(std::string{"rowlock: "} + option + ": is empty"));
      }
    }
  }
  EXPECT_THAT(run_with({"--ttl=", "--grace=1s"}).errors, HasSubstr("--ttl is not a duration"));
}

TEST(CliUsageTest, ADurationIsAtMostAYear) {
  for (const auto* wrong : {"366d", "9223372036854775807ms", "99999999999999999999s"}) {
    const auto refused = run_with({"--grace", wrong});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr("is longer than 365d"));
  }
}

TEST(CliUsageTest, EveryUnitIsUnderstood) {
  for (const auto* right : {"500ms", "30s", "5m", "2h", "1d", "365d"}) {
    EXPECT_EQ(run_with({"--grace", right}).code, 69) << right;
  }
}

TEST(CliUsageTest, AnExitCodeIsAByte) {
  for (const auto* option : {"-E", "--conflict-exit-code", "--lost-exit-code"}) {
    for (const auto* wrong : {"256", "-1", "one", "", "1x", "99999999999"}) {
      const auto refused = run_with({option, wrong});
      EXPECT_EQ(refused.code, 64) << option << ' ' << wrong;
      EXPECT_THAT(refused.errors, HasSubstr("rowlock: "));
    }
    EXPECT_EQ(run_with({option, "255"}).code, 69) << option;
  }
}

TEST(CliUsageTest, ATtlOutOfRangeIsRefused) {
  for (const auto* wrong : {"0s", "200ms", "25h"}) {
    const auto refused = run_with({"--ttl", wrong});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr("ttl"));
  }
}

TEST(CliUsageTest, AnEndOfRenewalBelowTheTtlIsRefused) {
  for (const auto* wrong : {"0s", "29s"}) {
    const auto refused = run_with({"--at-most", wrong});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_EQ(refused.errors,
              std::string{"rowlock: --at-most "} + wrong +
                  " is shorter than the lease, which is not ended before its --ttl of 30s: write "
                  "30s or more, or a shorter --ttl\n");
  }
  EXPECT_EQ(run_with({"--at-most", ""}).code, 64);
  EXPECT_EQ(run_with({"--at-most", "30s"}).code, 69);
}

TEST(CliUsageTest, AWrongTypeIsRefused) {
  for (const auto& wrong : {std::string{}, std::string{"in voice"}, std::string{"a/b/c"},
                            std::string{"a\nb"}, std::string(65, 'x')}) {
    const auto refused = run_under({"--type", wrong, "--source", "42"});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr("type"));
  }
}

TEST(CliUsageTest, AWrongSourceIsRefused) {
  for (const auto& wrong : {std::string{}, std::string(256, 'x'), std::string{"\xff\xfe"}}) {
    const auto refused = run_under({"--type", "invoice", "--source", wrong});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr("source"));
  }
}

TEST(CliUsageTest, AWrongTableNameIsRefused) {
  for (const auto* wrong : {"", "a\"b", "a'b", "a.b.c", "1a", "a b"}) {
    EXPECT_EQ(run_rowlock({"list", nowhere, "--table", wrong}).code, 64) << wrong;
  }
}

TEST(CliUsageTest, AHolderTooLongIsRefused) {
  EXPECT_EQ(run_with({"--holder", std::string(129, 'x')}).code, 64);
}

TEST(CliUsageTest, LeadNeedsACommandAndReadsItsOptionsBeforeItCampaigns) {
  const words lead{"lead", nowhere, "--type", "invoice", "--source", "42"};
  EXPECT_THAT(run_rowlock(lead).errors, HasSubstr("no command to run: write it after --"));
  for (const auto& wrong :
       {words{"--ttl", "30"}, words{"--ttl", "25h"}, words{"--grace", "soon"}}) {
    EXPECT_EQ(run_rowlock(lead + wrong + words{"--", "true"}).code, 64);
  }
  EXPECT_EQ(run_rowlock(lead + words{"--", "no-such-command"}).code, 127);
  EXPECT_THAT(run_rowlock({"lead", "--help"}).output,
              HasSubstr("Usage: rowlock lead [URL] --type"));
}

TEST(CliUsageTest, ReleaseNeedsForceAndAReason) {
  const words release{"release", nowhere, "--type", "invoice", "--source", "42", "--yes"};
  EXPECT_THAT(run_rowlock(release + words{"--reason", "why"}).errors, HasSubstr("give --ask"));
  EXPECT_THAT(run_rowlock(release + words{"--force"}).errors, HasSubstr("--reason is required"));
  for (const auto& wrong :
       {words{"--reason", ""}, words{"--reason", std::string(1025, 'r')},
        words{"--reason", "why", "--version", "soon"}, words{"--reason", "why", "--version", ""}}) {
    EXPECT_EQ(run_rowlock(release + words{"--force"} + wrong).code, 64);
  }
  EXPECT_EQ(run_rowlock(release + words{"--force", "--reason", "why", "--version", "1"}).code, 69);
}

TEST(CliUsageTest, PurgeLeavesWhatIsYoungerThanAnHour) {
  const words purge{"purge", nowhere, "--yes"};
  EXPECT_THAT(run_rowlock(purge).errors, HasSubstr("--older-than is required"));
  const auto refused = run_rowlock({"purge", nowhere, "--older-than", "59m"});
  EXPECT_EQ(refused.code, 64) << "before it asks";
  EXPECT_THAT(refused.errors, HasSubstr("younger than an hour"));
  EXPECT_THAT(refused.errors, HasSubstr("give an hour or more"));
  EXPECT_EQ(run_rowlock(purge + words{"--older-than", "1h"}).code, 69);
}

TEST(CliUsageTest, OutputThatCannotBeWrittenIsAFailure) {
  const auto failed = run({"sh", "-c", "\"$0\" --help > /dev/full", ROWLOCK_COMMAND});
  EXPECT_EQ(failed.code, 74);
  EXPECT_THAT(failed.errors, HasSubstr("could not be written"));
}

}  // namespace

}  // namespace rowlock::tests
