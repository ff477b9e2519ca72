// rowlock top: a screen of held keys, its keys, signals and sizes, and a database that goes away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "cli/printable.hpp"
#include "cli/terminal.hpp"
#include "rowlock/postgres_store.hpp"
#include "support/patience.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string end_of_frame = "\x1b[?2026l";
const std::string begin_of_screen = "\x1b[?1049h";
const std::string end_of_screen = "\x1b[?1049l";

/// `rowlock top` on a terminal.
class top_screen {
 public:
  explicit top_screen(const words& arguments, unsigned short lines = 24,
                      unsigned short columns = 120)
      : screen_{words{ROWLOCK_COMMAND, "top"} + arguments + words{"--interval", "1s"}, lines,
                columns} {}

  /// The first frame from now on that `is_wanted`.
  std::string frame_where(const std::function<bool(const std::string&)>& is_wanted) {
    std::string frame;
    const auto has_come = [&] {
      frame = screen_.read_until(end_of_frame);
      return is_wanted(frame);
    };
    await_that(has_come, {}, [&] { return frame; });
    return frame;
  }
  std::string frame_with(const std::string& text) {
    return frame_where([&](const auto& frame) { return frame.find(text) != std::string::npos; });
  }
  std::string frame_without(const std::string& text) {
    return frame_where([&](const auto& frame) { return frame.find(text) == std::string::npos; });
  }
  void press(const std::string& keys) const { screen_.type(keys); }
  terminal& operator*() { return screen_; }
  terminal* operator->() { return &screen_; }

 private:
  terminal screen_;
};

/// The lines of a frame, without what places and styles them.
std::vector<std::string> lines_in(const std::string& frame) {
  std::vector<std::string> lines(1);
  for (auto at = frame.find("\x1b[H") + 3;
       at < frame.size() && !frame.substr(at).starts_with(end_of_frame);) {
    if (frame.substr(at).starts_with("\x1b[")) {
      at = frame.find_first_of("mK", at) + 1;
    } else if (frame[at] == '\n') {
      lines.emplace_back();
      ++at;
    } else {
      if (frame[at] != '\r') lines.back() += frame[at];
      ++at;
    }
  }
  return lines;
}

/// The ids of the rows of type `job`, in the order in which they are shown.
std::string sources_in(const std::string& frame) {
  std::string sources;
  for (const auto& line : lines_in(frame)) {
    if (line.starts_with("job")) sources += line[line.find_first_not_of(' ', 3)];
  }
  return sources;
}

class CliTopTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock({"migrate", url_}).code, 0); }

  void hold(const lock_key& key, const std::string& holder = "host:1",
            std::chrono::microseconds ttl = 1h) {
    const acquire_request wanted{
        .key = key, .owner = make_owner_id(), .holder = holder, .ttl = ttl};
    ASSERT_EQ(rows_->acquire(std::array{wanted}).at(0).status, acquire_status::granted);
  }
  void close(const lock_key& key) {
    const acquire_request wanted{
        .key = key, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h};
    const auto granted = rows_->acquire(std::array{wanted}).at(0).version.value();
    const release_request ended{
        .key = key, .owner = wanted.owner, .version = granted, .stay_closed = 1h};
    ASSERT_EQ(rows_->release(std::array{ended}).at(0), change_answer::done);
  }
  void execute(const std::string& sql) const {
    ASSERT_EQ(run({"sqlite3", folder_.path() / "locks.db", sql}).code, 0);
  }
  /// Three rows whose three orders differ: by age c a b, by what is left b c a.
  void make_three_orders() {
    hold({"job", "a"}, "host:1", 3h);
    hold({"job", "b"}, "host:1", 1h);
    hold({"job", "c"}, "host:1", 2h);
    execute(
        "update shared_lock set acquired_at = '2026-01-01 00:00:0' || case source_id"
        " when 'c' then '1' when 'a' then '2' else '3' end || '.000'");
  }

  const temp_folder folder_;
  const std::string url_ = "sqlite://" + (folder_.path() / "locks.db").string();
  const std::unique_ptr<store> rows_ = open_store(url_);
};

TEST_F(CliTopTest, ShowsTheHeldKeysAndCountsThem) {
  hold({"job", "a"});
  hold({"job", "b"});
  hold({"invoice", "over"});
  close({"invoice", "closed"});
  execute("update shared_lock set expires_at = '2026-01-01 00:00:00.000' where source_id = 'over'");
  top_screen screen{{url_}};
  const auto frame = screen.frame_with("SOURCE");
  screen.frame_with("2 held, 1 run out, 1 closed, 0 waited for");
  EXPECT_THAT(frame, HasSubstr("rowlock top   shared_lock   by age   every 1.0s"));
  hold({"job", "new"});
  EXPECT_THAT(screen.frame_with("3 held"), HasSubstr("new"));
}

TEST_F(CliTopTest, ItsKeysSort) {
  make_three_orders();
  top_screen screen{{url_}};
  const auto shows = [](const std::string& order) {
    return [order](const std::string& frame) { return sources_in(frame) == order; };
  };
  screen.frame_where(shows("cab"));
  screen.press("l");
  screen.frame_with("by left");
  screen.frame_where(shows("bca"));
  screen.press("k");
  screen.frame_with("by key");
  screen.frame_where(shows("abc"));
  screen.press("a");
  screen.frame_with("by age");
  screen.frame_where(shows("cab"));
}

TEST_F(CliTopTest, ItsKeysChooseATypeAndAHolder) {
  hold({"job", "a"}, "w\u00e9b:1");
  hold({"job", "b"}, "web:2");
  hold({"invoice", "c"}, "web:2");
  top_screen screen{{url_}};
  screen.frame_with("3 held");
  screen.press("t");
  screen.frame_with("type (empty: all): ");
  screen.press(
      "jox\x7f"
      "b\r");
  EXPECT_THAT(screen.frame_with("2 held"), AllOf(HasSubstr("type job"), Not(HasSubstr("invoice"))));
  screen.press("h");
  screen.frame_with("holder (empty: all): ");
  screen.press(
      "w\u00e8\x7f\u00e9"
      "b:1\r");
  EXPECT_THAT(screen.frame_with("1 held"), HasSubstr("holder w\u00e9b:1"));
  screen.press("t\r");
  screen.frame_without("type job");
  screen.press("h\r");
  screen.frame_with("3 held");
}

TEST_F(CliTopTest, AnInputThatIsRefusedOrGivenUpChangesNothing) {
  hold({"job", "a"});
  top_screen screen{{url_}};
  screen.frame_with("1 held");
  screen.press("ta job\r");
  screen.frame_with("lock type has a character outside");
  screen.press("tother");
  screen.frame_with("type (empty: all): other");
  screen.press("\x1b");
  screen.frame_without("other");
  // Arrows, F1 and Page Up are no keys of its own.
  screen.press("\x1b[A\x1bOP\x1b[5~k");
  EXPECT_THAT(screen.frame_with("by key"), HasSubstr("1 held"));
}

TEST_F(CliTopTest, PausesAndHelps) {
  hold({"job", "a"});
  top_screen screen{{url_}};
  screen.frame_with("1 held");
  screen.press(" ");
  screen.frame_with("paused");
  hold({"job", "b"});
  screen.press("?");
  screen.frame_with("q  quit");
  screen.press("x");
  EXPECT_THAT(screen.frame_with("SOURCE"), HasSubstr("1 held"));
  screen.press(" ");
  EXPECT_THAT(screen.frame_with("2 held"), Not(HasSubstr("paused")));
}

TEST_F(CliTopTest, QuittingRestoresTheTerminal) {
  terminal screen{{"sh", "-c", "stty -a; \"$@\"; echo code $?; stty -a; echo end", "sh",
                   ROWLOCK_COMMAND, "top", url_}};
  const auto before = screen.read_until(begin_of_screen);
  screen.read_until(end_of_frame);
  screen.type("q");
  screen.read_until(end_of_screen);
  const auto after = screen.read_until("end\r\n");
  EXPECT_THAT(after, testing::StartsWith("code 0\r\n"));
  EXPECT_THAT(before, HasSubstr(" icanon"));
  EXPECT_THAT(before, HasSubstr(after.substr(after.find("\r\n") + 2, after.rfind("end") - 10)));
}

TEST_F(CliTopTest, ASignalEndsItAndRestoresTheScreen) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    top_screen screen{{url_}};
    screen.frame_with("0 held");
    screen->send_signal(number);
    EXPECT_THAT(screen->read_rest(), EndsWith(end_of_screen));
    EXPECT_EQ(screen->wait(), 128 + number);
  }
}

TEST_F(CliTopTest, InterruptedByItsTerminalItEnds) {
  top_screen screen{{url_}};
  screen.frame_with("0 held");
  screen.press("\x03");
  EXPECT_THAT(screen->read_rest(), EndsWith(end_of_screen));
  EXPECT_EQ(screen->wait(), 128 + SIGINT);
}

TEST_F(CliTopTest, StoppedItLeavesTheScreenAndThenTakesItAgain) {
  top_screen screen{{url_}};
  screen.frame_with("0 held");
  screen.press("\x1a");
  screen->read_until(end_of_screen);
  screen->await_stop();
  hold({"job", "a"});
  screen->send_signal(SIGCONT);
  screen->read_until(begin_of_screen);
  screen.frame_with("1 held");
  screen.press("k");
  screen.frame_with("by key");
}

TEST_F(CliTopTest, StoppedFromElsewhereItDrawsAgain) {
  top_screen screen{{url_}};
  screen.frame_with("0 held");
  screen->stop_command();
  screen->send_signal(SIGCONT);
  screen->read_until(begin_of_screen);
  screen.frame_with("0 held");
}

TEST_F(CliTopTest, IsAsHighAndWideAsTheTerminal) {
  for (int i = 0; i < 40; ++i) hold({"job", std::string(60, 'a') + std::to_string(i)});
  top_screen screen{{url_}, 30, 100};
  auto lines = lines_in(screen.frame_with("40 held"));
  ASSERT_EQ(lines.size(), 30U);
  EXPECT_EQ(lines.back(), "\u2026 and 15 more: a higher terminal, or t and h, show them");
  for (const auto& [height, width] :
       {std::pair<unsigned short, unsigned short>{10, 40}, {3, 10}, {1, 1}, {60, 200}}) {
    screen->resize(height, width);
    const auto is_of_size = [&](const std::string& frame) {
      return lines_in(frame).size() == height;
    };
    for (const auto& line : lines_in(screen.frame_where(is_of_size))) {
      EXPECT_LE(cli::cell_count(line), width) << line;
    }
  }
}

TEST_F(CliTopTest, TextsOfTheTableCannotReachTheTerminalRaw) {
  const std::string hostile = "a\x1b[2Jb\nc\u202ed\u009bf\x07";
  hold({"job", hostile}, hostile);
  hold({"job", "\u65e5\u672c\u8a9e"}, std::string(42, 'w') + "\u65e5" + std::string(80, 'w'));
  const auto held = rows_->list({.holder = hostile}).at(0);
  execute("update shared_lock set note = 'n' || char(27) || ']0;title' || char(7)");
  top_screen screen{{url_}, 24, 100};
  const auto frame = screen.frame_with("2 held");
  for (const auto& line : lines_in(frame)) {
    EXPECT_LE(cli::cell_count(line), 100U) << line;
    for (const auto* raw : {"\x1b", "\x07", "\u202e", "\u009b"}) {
      EXPECT_EQ(line.find(raw), std::string::npos) << line;
    }
  }
  screen.press(
      "h"
      "\x9b"
      "2J\r");  // no UTF-8
  EXPECT_THAT(screen.frame_with("valid UTF-8"), Not(HasSubstr("\x9b"
                                                              "2J")));
}

TEST_F(CliTopTest, WithoutATerminalItSaysWhatToUse) {
  const auto refused = run_rowlock({"top", url_});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, HasSubstr("use list, or top --once"));
  EXPECT_EQ(refused.output, "");
}

TEST_F(CliTopTest, NeedsATerminalThatCanMoveItsCursor) {
  terminal screen{{"env", "TERM=dumb", ROWLOCK_COMMAND, "top", url_}, 24, 80};
  EXPECT_THAT(screen.read_rest(), AllOf(HasSubstr("top --once"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(screen.wait(), 64);
}

TEST_F(CliTopTest, OncePrintsWhatItWouldShow) {
  make_three_orders();
  const auto once = run_rowlock({"top", url_, "--once", "--sort", "left", "--state", "held"});
  EXPECT_EQ(once.code, 0) << once.errors;
  EXPECT_THAT(once.output, AllOf(HasSubstr("3 held"), HasSubstr("   state held"), HasSubstr("TYPE"),
                                 Not(HasSubstr("\x1b"))));
  EXPECT_LT(once.output.find("job   b"), once.output.find("job   c"));
}

TEST_F(CliTopTest, BadOptionsAreRefused) {
  for (const auto* interval : {"500ms", "0s", "1"}) {
    const auto refused = run_rowlock({"top", url_, "--once", "--interval", interval});
    EXPECT_EQ(refused.code, 64) << interval;
    EXPECT_THAT(refused.errors, HasSubstr("--interval"));
  }
  EXPECT_EQ(run_rowlock({"top", url_, "--once", "--sort", "size"}).code, 64);
}

TEST_F(CliTopTest, ATableThatIsMissingEndsItWithTheCommandThatMakesIt) {
  top_screen screen{{url_, "--table", "other_lock"}};
  screen->read_until(end_of_screen);
  EXPECT_THAT(screen->read_rest(), HasSubstr("rowlock migrate"));
  EXPECT_EQ(screen->wait(), 69);
}

/// On PostgreSQL, as a role that may only read.
class CliTopPostgresTest : public testing::Test {
 protected:
  CliTopPostgresTest() {
    migrate_postgres(postgres_url(), schema_.table());
    postgres_schema::execute(
        "select pg_advisory_xact_lock(4711); create extension if not exists pg_stat_statements");
    postgres_schema::execute("create role " + role_ +
                             " login password 'rowlock'; grant usage on schema " + schema_.name() +
                             " to " + role_ + "; grant select on all tables in schema " +
                             schema_.name() + " to " + role_);
  }
  ~CliTopPostgresTest() override {
    postgres_schema::execute("drop owned by " + role_ + "; drop role " + role_);
  }

  [[nodiscard]] words arguments(const std::string& url = postgres_url()) const {
    const char* separator = url.find('?') == std::string::npos ? "?" : "&";
    return {url + separator + "user=" + role_ + "&password=rowlock", "--table",
            schema_.table().text()};
  }
  void hold(const std::string& source) {
    const acquire_request wanted{
        .key = {"job", source}, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h};
    ASSERT_EQ(rows_.acquire(std::array{wanted}).at(0).status, acquire_status::granted);
  }

  /// The statements of the role so far, by the server's count.
  [[nodiscard]] long long statements() const {
    pqxx::connection connection{postgres_url()};
    pqxx::nontransaction reader{connection};
    return reader
        .exec(
            "select coalesce(sum(calls), 0) from pg_stat_statements s join pg_roles r"
            " on r.oid = s.userid where r.rolname = '" +
            role_ + "'")[0][0]
        .as<long long>();
  }

  const postgres_schema schema_;
  const std::string role_ = schema_.name() + "_reader";
  postgres_store rows_{postgres_url(), {.table = {schema_.table()}}};
};

TEST_F(CliTopPostgresTest, ShowsThatAKeyIsWaitedFor) {
  hold("a");
  ASSERT_TRUE(rows_.read(std::array{lock_key{"job", "a"}}, read_mode::watched).at(0));
  top_screen screen{arguments()};
  EXPECT_THAT(screen.frame_with("1 waited for"), HasSubstr("[waited for]"));
}

TEST_F(CliTopPostgresTest, SendsOneStatementForARefresh) {
  top_screen screen{arguments()};
  screen.frame_with("0 held");
  hold("first");
  screen.frame_with("first");
  screen.press(" ");
  screen.frame_with("paused");
  hold("before");
  screen.press("l");
  screen.frame_with("before");
  const auto before = statements();
  constexpr int refreshes = 3;
  for (int i = 0; i < refreshes; ++i) {
    const auto source = "new" + std::to_string(i);
    hold(source);
    screen.press(i % 2 == 0 ? "k" : "a");
    screen.frame_with(source);
  }
  EXPECT_EQ(statements(), before + refreshes);
}

// A read for each key would be sixty, one a second is one or two.
TEST_F(CliTopPostgresTest, SendsNoStatementForEachKeyThatIsPressed) {
  top_screen screen{arguments()};
  screen.frame_with("0 held");
  const auto before = statements();
  for (int i = 0; i < 30; ++i) {
    screen.press("k");
    screen.frame_with("by key");
    screen.press("l");
    screen.frame_with("by left");
  }
  EXPECT_LT(statements() - before, 30);
}

TEST_F(CliTopPostgresTest, OutlastsADatabaseThatGoesAwayAndSaysSo) {
  pqxx::connection direct{postgres_url()};
  tcp_proxy proxy{direct.hostname(), direct.port()};
  hold("a");
  top_screen screen{arguments(url_through(proxy))};
  screen.frame_with("1 held");
  proxy.black_hole();
  EXPECT_THAT(screen.frame_with("no answer for"),
              AllOf(HasSubstr("these rows are"), HasSubstr("\x1b[2mjob")));
  hold("b");
  proxy.pass();
  EXPECT_THAT(screen.frame_with("trying again"), HasSubstr("these rows are"));
  EXPECT_THAT(screen.frame_with("2 held"), Not(HasSubstr("trying again")));
}

TEST_F(CliTopPostgresTest, QuitsWhileTheDatabaseDoesNotAnswer) {
  pqxx::connection direct{postgres_url()};
  tcp_proxy proxy{direct.hostname(), direct.port()};
  top_screen screen{arguments(url_through(proxy))};
  screen.frame_with("0 held");
  proxy.black_hole();
  screen.frame_with("no answer for");
  screen.press("q");
  EXPECT_THAT(screen->read_rest(), EndsWith(end_of_screen));
  EXPECT_EQ(screen->wait(), 0);
}

TEST_F(CliTopPostgresTest, BeginsWhileTheDatabaseIsAway) {
  pqxx::connection direct{postgres_url()};
  tcp_proxy proxy{direct.hostname(), direct.port()};
  hold("a");
  proxy.black_hole();
  top_screen screen{arguments(url_through(proxy))};
  screen.frame_with("no rows yet: no answer for");
  proxy.pass();
  screen.frame_with("1 held");
}

}  // namespace

}  // namespace rowlock::tests
