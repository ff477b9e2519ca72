// rowlock list: the holders of all keys, for people and for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"

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
  const auto token = holder.read_line().value_or("no token");

  const auto lines = lines_of(list());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0],
              MatchesRegex("TYPE +SOURCE +HOLDER +SINCE \\(UTC\\) +REMAINING +VERSION +NOTE"));
  EXPECT_THAT(lines[1],
              MatchesRegex("invoice  42 +worker-a  20..-..-.. ..:..:.. +[0-9.]+s +" + token));
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

  const auto until = std::chrono::steady_clock::now() + patience;
  std::string listed = list();
  while (listed.find("run out") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << listed;
    listed = list();
  }
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
  EXPECT_THAT(lines[1], MatchesRegex("invoice  42 +worker-a  - +closed 59m [0-9]+s +[0-9]+"));
  const auto row = json::parse(list_as_json()).front();
  EXPECT_EQ(row.at("state"), "closed");
  EXPECT_EQ(row.at("since"), nullptr);
}

TEST_P(CliListTest, ShowsTheBeginningOfANoteOnOneLine) {
  const auto rows = open();
  lock_table locks{*rows};
  const std::string note = "step 1\nof " + std::string(100, '3');
  const auto held = locks.try_acquire({"invoice", "42"}, {.note = note});
  const auto lines = lines_of(list());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[1].ends_with("  step 1\\nof " + std::string(29, '3') + "...")) << lines[1];
  EXPECT_EQ(json::parse(list_as_json()).front().at("note"), note);
}

ROWLOCK_ON_EVERY_DATABASE(CliListTest);

}  // namespace

}  // namespace rowlock::tests
