// rowlock list: the holders of all keys, for people and for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "cli/printable.hpp"
#include "cli/terminal.hpp"
#include "rowlock/lock_table.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

class CliListTest : public LockedCliTest {
 protected:
  /// Holds invoice/`source`; says the token, and ends when it gets a line.
  [[nodiscard]] words hold(const std::string& source, const std::string& holder) const {
    return rowlock("run", {"--type", "invoice", "--source", source, "--holder", holder, "--", "sh",
                           "-c", "echo $ROWLOCK_TOKEN; read line"});
  }

  [[nodiscard]] std::string list_as_json() const { return run(rowlock("list", {"--json"})).output; }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// How many characters stand before `text`.
long column_of(const std::string& text, const std::string& line) {
  const auto at = line.find(text);
  if (at == std::string::npos) return -1;
  return std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80;
  });
}

TEST_P(CliListTest, SaysThatNoKeyIsHeld) {
  const auto listed = run(rowlock("list"));
  EXPECT_EQ(listed.code, 0) << listed.errors;
  EXPECT_EQ(listed.output, "no key is held\n");
  EXPECT_EQ(list_as_json(), "[]\n");
}

TEST_P(CliListTest, HasALineForEachKeyThatIsHeld) {
  child_process holder{hold("42", "worker-a")};
  ASSERT_TRUE(holder.read_line());

  const auto lines = lines_of(list());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], MatchesRegex("TYPE +SOURCE +HOLDER +AGE +ALIVE +LEFT +NOTE"));
  EXPECT_THAT(lines[1], MatchesRegex("invoice  42 +worker-a  [0-9.]+s +[0-9.]+s ago +[0-9.]+s"));
}

TEST_P(CliListTest, AlignsItsColumnsByCharacters) {
  child_process first{hold("42", "worker-a")};
  ASSERT_TRUE(first.read_line());
  child_process second{hold("Gr\u00f6\u00dfenordnung \u20ac", "worker-b")};
  ASSERT_TRUE(second.read_line());

  const auto lines = lines_of(list());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(column_of("worker-a", lines[1]), column_of("HOLDER", lines[0]));
  EXPECT_EQ(column_of("worker-b", lines[2]), column_of("HOLDER", lines[0]));
}

TEST_P(CliListTest, GivesProgramsFixedFields) {
  child_process holder{hold("42", "worker-a")};
  const auto token = holder.read_line().value_or("0");

  const auto listed = json::parse(list_as_json());
  ASSERT_EQ(listed.size(), 1U);
  const auto& row = listed.front();
  EXPECT_EQ(row.at("type"), "invoice");
  EXPECT_EQ(row.at("source"), "42");
  EXPECT_EQ(row.at("state"), "held");
  EXPECT_EQ(row.at("holder"), "worker-a");
  EXPECT_EQ(row.at("version"), std::stoll(token));
  EXPECT_GT(row.at("remaining_ms"), 0);
  EXPECT_LE(row.at("remaining_ms"), 30'000);
  EXPECT_THAT(row.at("since").get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\.[0-9]+Z"));
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return byte == '\n' || (byte >= ' ' && byte <= '~'); });
}

TEST_P(CliListTest, IsSafeForTerminals) {
  // Clears the screen; begins a line of its own; turns the direction of writing.
  const std::string hostile = "a\x1b[2Jb\nc\u202ed\u202ce\u009bf";
  child_process holder{hold(hostile, hostile)};
  ASSERT_TRUE(holder.read_line());

  const auto listed = list();
  EXPECT_TRUE(is_plain(listed)) << listed;
  EXPECT_EQ(lines_of(listed).size(), 2U);
  EXPECT_THAT(listed, HasSubstr(R"(a\x1b[2Jb\nc\u{202e}d\u{202c}e\u{9b}f)"));

  const auto for_programs = list_as_json();
  EXPECT_TRUE(is_plain(for_programs)) << for_programs;
  EXPECT_EQ(json::parse(for_programs).front().at("source"), hostile);
}

TEST_P(CliListTest, ShowsALeaseThatHasRunOutUntilItIsTakenOver) {
  child_process holder{script_under_lock("echo started; read line", {"--ttl", "2s"})};
  ASSERT_TRUE(holder.read_line());
  holder.send_signal(SIGKILL);  // no process releases the key now
  holder.wait();

  await_that([&] { return list().find("run out") != std::string::npos; });
  const auto row = json::parse(list_as_json()).front();
  EXPECT_EQ(row.at("state"), "run out");
  EXPECT_EQ(row.at("remaining_ms"), 0);
  ASSERT_EQ(run(under_lock({"true"})).code, 0);
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliListTest, ShowsAKeyThatStaysClosedAndWhoHadIt) {
  const auto rows = open();
  lock_table locks{*rows, {.holder = "worker-a"}};
  ASSERT_TRUE(locks.with_lock({"invoice", "42"}, [] {}, {.hold_at_least = 1h}).kept());
  const auto lines = lines_of(list());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], MatchesRegex("invoice  42 +worker-a  - +- +closed 59m [0-9]+s"));
  const auto row = json::parse(list_as_json()).front();
  EXPECT_EQ(row.at("state"), "closed");
  EXPECT_EQ(row.at("since"), nullptr);
}

TEST_P(CliListTest, ShowsANoteOnOneLine) {
  const auto rows = open();
  lock_table locks{*rows};
  const std::string note = "step 1\nof " + std::string(100, '3');
  const auto held = locks.try_acquire({"invoice", "42"}, {.note = note});
  const auto lines = lines_of(list());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[1].ends_with("  step 1\\nof " + std::string(100, '3'))) << lines[1];
  EXPECT_EQ(json::parse(list_as_json()).front().at("note"), note);
}

TEST_P(CliListTest, ShowsTheKeysThatItsOptionsName) {
  const auto rows = open();
  lock_table first{*rows, {.holder = "worker-a"}};
  lock_table second{*rows, {.holder = "worker-b"}};
  const auto one = first.try_acquire({"invoice", "1"});
  const auto other = second.try_acquire({"job", "2"});
  ASSERT_TRUE(second.with_lock({"job", "3"}, [] {}, {.hold_at_least = 1h}).kept());
  const auto sources = [&](const words& options) {
    std::string found;
    for (const auto& row : json::parse(run(rowlock("list", words{"--json"} + options)).output)) {
      found += row.at("source").get<std::string>();
    }
    return found;
  };
  EXPECT_EQ(sources({}), "123");
  EXPECT_EQ(sources({"--type", "job"}), "23");
  EXPECT_EQ(sources({"--holder", "worker-a"}), "1");
  EXPECT_EQ(sources({"--state", "held"}), "12");
  EXPECT_EQ(sources({"--state", "closed"}), "3");
  EXPECT_EQ(sources({"--state", "run-out"}), "");
  EXPECT_EQ(sources({"--sort", "left"}), "123");
  EXPECT_EQ(run(rowlock("list", {"--type", "other"})).output, "no such key is held\n");
}

TEST_P(CliListTest, HasNoMoreRowsThanItsLimitAndSaysThatThereAreMore) {
  const auto rows = open();
  lock_table locks{*rows};
  const auto held = locks.try_acquire_all({{"job", "1"}, {"job", "2"}, {"job", "3"}});
  for (const auto* order : {"key", "age", "left"}) {
    const auto cut = run(rowlock("list", {"--limit", "2", "--sort", order}));
    EXPECT_EQ(cut.code, 0);
    EXPECT_EQ(lines_of(cut.output).size(), 3U);
    EXPECT_THAT(cut.errors, HasSubstr(std::string{"the first 2 by "} + order));
    const auto whole = run(rowlock("list", {"--limit", "3", "--sort", order}));
    EXPECT_EQ(lines_of(whole.output).size(), 4U);
    EXPECT_EQ(whole.errors, "");
  }
}

ROWLOCK_ON_EVERY_DATABASE(CliListTest);

class CliListOfManyTest : public LockedCliTest {
 protected:
  static constexpr int pages = 3;

  void SetUp() override {
    LockedCliTest::SetUp();
    const auto rows = open();
    for (int page = 0; page < pages; ++page) {
      std::vector<acquire_request> requests;
      for (int i = 0; i < 1000; ++i) {
        auto source = std::to_string(10'000 + page * 1000 + i);
        requests.push_back({.key = {"job", std::move(source)},
                            .owner = make_owner_id(),
                            .holder = "host:1",
                            .ttl = 1h});
      }
      (void)rows->acquire(requests);
    }
  }
};

TEST_P(CliListOfManyTest, HasAllOfThemOnceAndInOrder) {
  const auto listed = json::parse(run(rowlock("list", {"--json"})).output);
  ASSERT_EQ(listed.size(), 1000U * pages);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    EXPECT_EQ(listed[i].at("source"), std::to_string(10'000 + i));
  }
  EXPECT_EQ(lines_of(list()).size(), 1U + 1000U * pages);
}

TEST_P(CliListOfManyTest, HasAThousandInAnotherOrderIfNoLimitIsGiven) {
  const auto listed = run(rowlock("list", {"--sort", "age"}));
  EXPECT_EQ(lines_of(listed.output).size(), 1001U);
  EXPECT_THAT(listed.errors, HasSubstr("the first 1000 by age"));
}

TEST_P(CliListOfManyTest, HasALimitOfSeveralPages) {
  for (const auto* limit : {"999", "1000", "1001", "2000", "2999"}) {
    const auto cut = run(rowlock("list", {"--json", "--limit", limit}));
    EXPECT_EQ(json::parse(cut.output).size(), std::stoul(limit));
    EXPECT_THAT(cut.errors, HasSubstr("there are more"));
  }
  EXPECT_EQ(run(rowlock("list", {"--limit", "3000"})).errors, "");
}

ROWLOCK_ON_EVERY_DATABASE(CliListOfManyTest);

class CliListTerminalTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock({"migrate", url_}).code, 0); }

  void hold(const lock_key& key, const std::string& holder) {
    const acquire_request wanted{.key = key, .owner = make_owner_id(), .holder = holder, .ttl = 1h};
    ASSERT_EQ(rows_->acquire(std::array{wanted}).at(0).status, acquire_status::granted);
  }
  void execute(const std::string& sql) const {
    ASSERT_EQ(run({"sqlite3", folder_.path() / "locks.db", sql}).code, 0);
  }
  [[nodiscard]] std::vector<std::string> shown(int columns, const words& options = {},
                                               const std::string& setting = "A=1") const {
    terminal screen{words{"env", setting, ROWLOCK_COMMAND, "list", url_} + options, 24,
                    static_cast<unsigned short>(columns)};
    auto lines = lines_of(screen.read_rest());
    for (auto& line : lines) line.erase(line.find_last_not_of('\r') + 1);
    return lines;
  }

  const temp_folder folder_;
  const std::string url_ = "sqlite://" + (folder_.path() / "locks.db").string();
  const std::unique_ptr<store> rows_ = open_store(url_);
};

TEST_F(CliListTerminalTest, FitsTheWidthAndShortensTheMiddle) {
  hold({"invoice", "begin" + std::string(200, 'x') + "end"}, "host:" + std::string(100, '1') + "2");
  for (const int width : {200, 120, 80, 60}) {
    const auto lines = shown(width);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(cli::cell_count(lines[1]), static_cast<std::size_t>(width) - 6U)
        << lines[1];  // there is no note
    EXPECT_THAT(lines[1], MatchesRegex("invoice  begi?n?x*\u2026x*e?nd +ho.*\u2026.*2 +.*s ago.*"));
  }
  EXPECT_LE(cli::cell_count(shown(20)[1]), 20U);
}

TEST_F(CliListTerminalTest, TakesTheWidthFromTheEnvironmentIfTheTerminalHasNone) {
  hold({"invoice", std::string(200, 'x')}, "host:1");
  EXPECT_EQ(cli::cell_count(shown(0, {}, "COLUMNS=100")[1]), 94U);
  EXPECT_EQ(cli::cell_count(shown(0, {}, "COLUMNS=wide")[1]), 74U);
}

TEST_F(CliListTerminalTest, AlignsWideAndCombiningCharacters) {
  hold({"job", "\u65e5\u672c"}, "worker-a");
  hold({"job", "e\u0301e\u0301e\u0301e\u0301"}, "worker-b");
  const auto lines = shown(80);
  ASSERT_EQ(lines.size(), 3U);
  for (const auto& line : lines) {
    const auto at = line.find(&line == lines.data() ? "HOLDER" : "worker");
    EXPECT_EQ(cli::cell_count(line.substr(0, at)), 14U) << line;
  }
}

TEST_F(CliListTerminalTest, ColoursARowThatAlsoSaysWhatIsWrong) {
  hold({"job", "fresh"}, "host:1");
  hold({"job", "over"}, "host:1");
  hold({"job", "silent"}, "host:1");
  execute("update shared_lock set expires_at = '2026-01-01 00:00:00.000' where source_id = 'over'");
  execute(
      "update shared_lock set expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '+60 seconds')"
      " where source_id = 'silent'");
  const auto lines = shown(120);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[1], testing::StartsWith("job   fresh"));
  EXPECT_THAT(lines[2], MatchesRegex("\x1b\\[31mjob   over .*no sign .*run out\x1b\\[0m"));
  EXPECT_THAT(lines[3], MatchesRegex("\x1b\\[33mjob   silent .*no sign .*\x1b\\[0m"));
}

TEST_F(CliListTerminalTest, HasNoColoursWhereTheyAreNotWanted) {
  hold({"job", "over"}, "host:1");
  execute("update shared_lock set expires_at = '2026-01-01 00:00:00.000'");
  const auto is_coloured = [](const std::string& line) { return line.starts_with("\x1b["); };
  EXPECT_TRUE(is_coloured(shown(80).at(1)));
  EXPECT_TRUE(is_coloured(shown(80, {}, "NO_COLOR=").at(1)));
  EXPECT_FALSE(is_coloured(shown(80, {}, "NO_COLOR=1").at(1)));
  EXPECT_TRUE(is_coloured(shown(80, {"--color", "always"}, "NO_COLOR=1").at(1)));
  EXPECT_FALSE(is_coloured(shown(80, {"--color", "never"}).at(1)));
  const auto piped = run_rowlock({"list", url_});
  EXPECT_EQ(piped.output.find('\x1b'), std::string::npos);
  EXPECT_THAT(run_rowlock({"list", url_, "--color=always"}).output, HasSubstr("\x1b[31m"));
}

TEST(CliListUsageTest, BadOptionsAreRefusedWithWhatIsRight) {
  const std::string url = "postgresql://app:sesame@127.0.0.1:1/shop";
  const auto refused = [&](const words& options) {
    const auto tried = run_rowlock(words{"list", url} + options);
    EXPECT_EQ(tried.code, 64) << tried.errors;
    EXPECT_EQ(tried.errors.find("sesame"), std::string::npos);
    return tried.errors;
  };
  EXPECT_THAT(refused({"--sort", url}), HasSubstr("write key, age or left"));
  EXPECT_THAT(refused({"--state", "free"}), HasSubstr("write any, held, run-out or closed"));
  EXPECT_THAT(refused({"--color", "blue"}), HasSubstr("write auto, always or never"));
  for (const auto* limit : {"0", "-1", "many", "1k", "99999999999999999999999"}) {
    EXPECT_THAT(refused({"--limit", limit}), HasSubstr("a whole number from 1 on")) << limit;
  }
  EXPECT_THAT(refused({"--sort", "age", "--limit", "10001"}), HasSubstr("--limit is above 10000"));
  EXPECT_THAT(refused({"--type", "a job"}), HasSubstr("lock type has a character"));
  EXPECT_THAT(refused({"--holder", std::string(129, 'h')}), HasSubstr("the holder label has more"));
}

}  // namespace

}  // namespace rowlock::tests
