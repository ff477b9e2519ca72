// Parts of rowlock serve that no request can bring about at a moment of a test's choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/database_time.hpp"
#include "cli/serve/addresses.hpp"
#include "cli/serve/metrics.hpp"
#include "cli/serve/shared_reads.hpp"
#include "rowlock/clock.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// The ends of reads, counted.
class read_ends {
 public:
  void add() {
    const std::scoped_lock lock{mutex_};
    ++number_;
    changed_.notify_all();
  }
  void await(int number) {
    std::unique_lock lock{mutex_};
    ASSERT_TRUE(changed_.wait_for(lock, patience, [&] { return number_ >= number; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int number_ = 0;
};

class SharedReadsTest : public testing::Test {
 protected:
  /// Says how often it was called.
  cli::shared_reads::outcome get(const std::string& name = "locks") {
    return reads_.get(name, [this] { return std::to_string(++calls_); });
  }

  int calls_ = 0;
  read_ends ends_;
  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  cli::shared_reads reads_{time_, [this] { ends_.add(); }};
};

TEST_F(SharedReadsTest, TheDatabaseIsReadOnceASecondHoweverManyAsk) {
  EXPECT_TRUE(get().is_pending());
  ends_.await(1);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(*get().answer, "1");
  time_->advance(999ms);
  EXPECT_EQ(*get().answer, "1");
  time_->advance(1ms);
  EXPECT_TRUE(get().is_pending());
  ends_.await(2);
  EXPECT_EQ(*get().answer, "2");
  EXPECT_EQ(reads_.counted().reads, 2U);
}

TEST_F(SharedReadsTest, WhoComesDuringAReadSharesIt) {
  std::promise<void> go_on;
  const auto slow = [this, may_end = go_on.get_future().share()] {
    may_end.wait();
    return std::to_string(++calls_);
  };
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(reads_.get("locks", slow).is_pending());
  go_on.set_value();
  ends_.await(1);
  EXPECT_EQ(*get().answer, "1");
}

TEST_F(SharedReadsTest, AReadThatHangsIsAFaultForAllWhoAsk) {
  std::promise<void> go_on;
  const auto hanging = [may_end = go_on.get_future().share()] {
    may_end.wait();
    return std::string{"late"};
  };
  EXPECT_TRUE(reads_.get("locks", hanging).is_pending());
  time_->advance(cli::shared_reads::patience);
  EXPECT_THAT(reads_.get("locks", hanging).fault, HasSubstr("has not answered"));
  go_on.set_value();
  ends_.await(1);
  EXPECT_EQ(*get().answer, "late");
}

TEST_F(SharedReadsTest, AFaultIsSharedForASecondToo) {
  const auto failing = [this]() -> std::string {
    ++calls_;
    throw std::runtime_error{"no route to it"};
  };
  EXPECT_TRUE(reads_.get("locks", failing).is_pending());
  ends_.await(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(reads_.get("locks", failing).fault, "no route to it");
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(reads_.counted().faults, 1U);
  time_->advance(1s);
  EXPECT_TRUE(get().is_pending());
  ends_.await(2);
  EXPECT_TRUE(get().answer);
}

TEST_F(SharedReadsTest, TheNumberOfReadsThatAreKeptIsBounded) {
  std::promise<void> go_on;
  const auto hanging = [may_end = go_on.get_future().share()] {
    may_end.wait();
    return std::string{};
  };
  for (std::size_t i = 0; i < cli::shared_reads::most_names; ++i) {
    ASSERT_TRUE(reads_.get(std::to_string(i), hanging).is_pending());
  }
  EXPECT_THAT(reads_.get("one more", hanging).fault, HasSubstr("too many"));
  go_on.set_value();
  ends_.await(static_cast<int>(cli::shared_reads::most_names));
  EXPECT_TRUE(get("one more").is_pending());
}

row_state held(const std::string& type, std::chrono::microseconds since,
               std::chrono::microseconds silent) {
  row_state row{.key = {type, "1"}, .version = {1}, .owned = true};
  row.held_for = since;
  row.ttl = 30s;
  row.remaining = 30s - silent;
  return row;
}

std::string text_of(const std::vector<row_state>& rows) {
  cli::lock_totals totals;
  totals.add(rows);
  return totals.text();
}

TEST(ServeMetrics, RowsAreCountedByTypeAndState) {
  std::vector<row_state> rows{held("invoice", 60s, 1s), held("invoice", 90'500ms, 16s),
                              held("invoice", 500s, 31s), held("job", 1s, 15s)};
  rows.back().is_waited_for = true;
  row_state closed{.key = {"job", "2"}, .version = {1}};
  closed.remaining = 1s;
  rows.push_back(closed);
  const auto text = text_of(rows);
  for (const auto* const line :
       {"rowlock_keys{type=\"invoice\",state=\"held\"} 2\n",
        "rowlock_keys{type=\"invoice\",state=\"closed\"} 0\n",
        "rowlock_keys{type=\"invoice\",state=\"run_out\"} 1\n",
        "rowlock_keys{type=\"job\",state=\"closed\"} 1\n",
        "rowlock_oldest_hold_seconds{type=\"invoice\"} 90.500000\n",
        "rowlock_silent_holds{type=\"invoice\"} 1\n", "rowlock_silent_holds{type=\"job\"} 0\n",
        "rowlock_waited_for_keys{type=\"job\"} 1\n", "# TYPE rowlock_keys gauge\n",
        "# HELP rowlock_keys "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ServeMetrics, AboveAHundredTypesTheSmallestAreOneSeries) {
  std::vector<row_state> rows;
  for (int type = 0; type < 100; ++type) {
    rows.push_back(held("large" + std::to_string(type), 1s, 1s));
    rows.push_back(rows.back());
  }
  for (int type = 0; type < 50; ++type)
    rows.push_back(held("a-small" + std::to_string(type), 1s, 1s));
  rows.push_back(held("other", 1s, 1s));
  const auto text = text_of(rows);
  EXPECT_THAT(text, HasSubstr("rowlock_keys{type=\"other\",state=\"held\"} 51\n"));
  EXPECT_THAT(text, HasSubstr("rowlock_keys{type=\"large99\",state=\"held\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("a-small")));
}

TEST(ServeMetrics, LabelsAreEscaped) {
  EXPECT_EQ(cli::label_value("a\"b\\c\nd{}\u20ac"), "a\\\"b\\\\c\\nd{}\u20ac");
  EXPECT_EQ(cli::label_value("a\xff"), "a\\\\xff");
}

TEST(ServeAddress, AnAddressIsWhatIsListenedOn) {
  struct expected {
    const char* given;
    const char* text;
    bool is_loopback;
    bool is_any;
  };
  for (const auto& [given, text, is_loopback, is_any] :
       {expected{"127.0.0.1:9402", "127.0.0.1:9402", true, false},
        expected{"localhost:80", "127.0.0.1:80", true, false},
        expected{"127.1.2.3:0", "127.1.2.3:0", true, false},
        expected{"[::1]:9402", "[::1]:9402", true, false},
        expected{"0.0.0.0:1", "0.0.0.0:1", false, true}, expected{"[::]:1", "[::]:1", false, true},
        expected{"192.0.2.1:65535", "192.0.2.1:65535", false, false},
        expected{"[2001:db8::1]:1", "[2001:db8::1]:1", false, false}}) {
    const cli::listen_address address{given};
    EXPECT_EQ(address.text(), text);
    EXPECT_EQ(address.is_loopback(), is_loopback) << given;
    EXPECT_EQ(address.is_any(), is_any) << given;
  }
}

TEST(ServeAddress, AHostIsComparedWithoutItsPort) {
  const cli::host_names hosts{cli::listen_address{"[::1]:9402"}, {"Locks.Example.org"}};
  for (const auto* const host : {"[::1]:9402", "[::1]", "localhost:1", "locks.example.ORG"}) {
    EXPECT_TRUE(hosts.allow(host)) << host;
  }
  for (const auto* const host : {"", "[", "[]", ":", "[::2]", "127.0.0.1", "::1", "org"}) {
    EXPECT_FALSE(hosts.allow(host)) << host;
  }
}

TEST(ServeDatabaseTime, TimesAreReadAndWritten) {
  for (const auto* const text : {"2026-01-31 12:00:07.000123", "2026-01-31T12:00:07.000123Z"}) {
    const auto time = cli::parse_database_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(cli::to_rfc3339(*time), "2026-01-31T12:00:07.000123Z");
  }
  EXPECT_EQ(cli::to_rfc3339(*cli::parse_database_time("2026-01-31T12:00:07.5Z")),
            "2026-01-31T12:00:07.500000Z");
  for (const auto* const text :
       {"", "2026-01-31", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-01-31T24:00:00Z",
        "2026-01-31T12:00:00+01:00", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00.1234567Z",
        "2026-01-31T12:00:00Zx", "x026-01-31T12:00:00Z"}) {
    EXPECT_FALSE(cli::parse_database_time(text)) << text;
  }
}

}  // namespace

}  // namespace rowlock::tests
