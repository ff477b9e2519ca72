// Lists of rows: filters, orders, and pages.
#include <algorithm>
#include <string>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class ListRequest : public store_test {
 protected:
  [[nodiscard]] std::vector<lock_key> keys_of(const list_request& request) const {
    std::vector<lock_key> keys;
    for (const auto& row : rows_->list(request)) keys.push_back(row.key);
    return keys;
  }

  void hold(const lock_key& key, const std::string& holder, std::chrono::microseconds ttl = 1h) {
    const acquire_request wanted{
        .key = key, .owner = make_owner_id(), .holder = holder, .ttl = ttl};
    ASSERT_EQ(rows_->acquire(std::array{wanted}).at(0).status, acquire_status::granted);
  }
  /// The row stays closed for `time` after a lease.
  void close(const lock_key& key, std::chrono::microseconds time = 1h) {
    const release_request ended{
        .key = key, .owner = mine_, .version = granted(key, mine_), .stay_closed = time};
    ASSERT_EQ(rows_->release(std::array{ended}).at(0), change_answer::done);
  }
  /// One row of each state.
  void make_each_state() {
    run_out({"job", "run out"}, mine_);
    hold({"job", "held"}, "host:1");
    close({"job", "closed"});
    touch({"job", "free"});
    hold({"invoice", "held"}, "host:1");
  }
  static std::string misuse_of(const list_request& request, store& rows) {
    try {
      (void)rows.list(request);
    } catch (const error& thrown) {
      if (thrown.kind() == errc::misuse) return thrown.what();
    }
    return "no misuse";
  }
};

TEST_P(ListRequest, OfOneStateHasTheRowsInIt) {
  make_each_state();
  using keys = std::vector<lock_key>;
  EXPECT_EQ(keys_of({}),
            (keys{{"invoice", "held"}, {"job", "closed"}, {"job", "held"}, {"job", "run out"}}));
  EXPECT_EQ(keys_of({.state = row_filter::held}), (keys{{"invoice", "held"}, {"job", "held"}}));
  EXPECT_EQ(keys_of({.state = row_filter::run_out}), (keys{{"job", "run out"}}));
  EXPECT_EQ(keys_of({.state = row_filter::closed}), (keys{{"job", "closed"}}));
}

TEST_P(ListRequest, OfOneTypeHasNoOther) {
  for (const auto* type : {"Job", "jo", "job", "eu/job", "job#1", "job-2", "jobs"}) {
    hold({type, "1"}, "host:1");
  }
  using keys = std::vector<lock_key>;
  EXPECT_EQ(keys_of({.type = "job"}), (keys{{"job", "1"}}));
  EXPECT_EQ(keys_of({.type = "eu/job"}), (keys{{"eu/job", "1"}}));
  EXPECT_EQ(keys_of({.type = "job#1"}), (keys{{"job#1", "1"}}));
  EXPECT_EQ(keys_of({.type = "zebra"}), keys{});
}

TEST_P(ListRequest, OfOneHolderComparesItsLabelByteByByte) {
  const std::vector<std::string> labels{"web1:4711", "Web1:4711", "web1:4711 ",
                                        "web1",      "",          "w\u00e9b '\"\\%"};
  for (std::size_t i = 0; i < labels.size(); ++i) hold({"job", std::to_string(i)}, labels[i]);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(keys_of({.holder = labels[i]}), (std::vector<lock_key>{{"job", std::to_string(i)}}))
        << labels[i];
  }
  EXPECT_TRUE(keys_of({.holder = "nobody"}).empty());
}

TEST_P(ListRequest, OfAHolderHasTheRowsThatItLeftClosed) {
  close({"job", "1"});
  EXPECT_EQ(keys_of({.holder = "host:1"}), (std::vector<lock_key>{{"job", "1"}}));
}

TEST_P(ListRequest, JoinsItsFilters) {
  make_each_state();
  hold({"job", "of another"}, "host:2");
  EXPECT_EQ(keys_of({.type = "job", .holder = "host:1", .state = row_filter::held}),
            (std::vector<lock_key>{{"job", "held"}}));
}

TEST_P(ListRequest, ByAgeHasTheLongestHeldFirstAndClosedRowsLast) {
  close({"job", "closed before"}, 12h);
  std::vector<lock_key> expected;
  for (const auto* source : {"c", "a", "b"}) {
    const lock_key key{"job", source};
    hold(key, "host:1", 12h);
    expected.push_back(key);
    let_time_pass_after(row(key).acquired_at);
    run_out({"clock", std::string{"of "} + source}, mine_);  // moves a clock that a test sets
  }
  close({"job", "closed after"}, 12h);
  expected.push_back({"job", "closed after"});
  expected.push_back({"job", "closed before"});
  EXPECT_EQ(keys_of({.type = "job", .sort = row_order::age}), expected);
}

TEST_P(ListRequest, ByWhatRemainsHasTheLeastLeftFirst) {
  run_out({"job", "d"}, mine_);
  hold({"job", "a"}, "host:1", 3h);
  hold({"job", "b"}, "host:1", 1h);
  close({"job", "c"}, 2h);
  EXPECT_EQ(keys_of({.sort = row_order::remaining}),
            (std::vector<lock_key>{{"job", "d"}, {"job", "b"}, {"job", "c"}, {"job", "a"}}));
}

TEST_P(ListRequest, HasTheFirstOfItsOrderUpToItsLimit) {
  hold({"job", "a"}, "host:1", 3h);
  hold({"job", "b"}, "host:1", 1h);
  hold({"job", "c"}, "host:1", 2h);
  for (const auto order : {row_order::key, row_order::age, row_order::remaining}) {
    const auto all = keys_of({.sort = order});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(keys_of({.sort = order, .limit = 2}), (std::vector<lock_key>{all[0], all[1]}));
    EXPECT_EQ(keys_of({.sort = order, .limit = 10'000}), all);
  }
}

// Ids that differ in case, blanks and bytes; types of which one begins with the other.
TEST_P(ListRequest, PagesReachEachKeyOnce) {
  std::vector<lock_key> all;
  for (const auto* type : {"Job", "job", "job#1", "jobs"}) {
    for (const auto* source : {"1", "10", "2", "a", "A", "a ", "\u00e9", "\u65e5"}) {
      all.push_back({type, source});
    }
  }
  for (const auto& key : all) hold(key, "host:1");
  touch({"job", "free, between others"});
  std::sort(all.begin(), all.end());
  for (const std::size_t size : {1U, 3U, 8U, 31U, 32U, 33U}) {
    std::vector<lock_key> reached;
    list_request request{.limit = size};
    for (auto page = keys_of(request); !page.empty(); page = keys_of(request)) {
      ASSERT_LE(page.size(), size);
      reached.insert(reached.end(), page.begin(), page.end());
      ASSERT_LE(reached.size(), all.size());
      request.after = page.back();
    }
    EXPECT_EQ(reached, all) << size;
  }
}

TEST_P(ListRequest, GoesOnAfterAKeyThatIsGoneAndWithinItsType) {
  for (const auto* source : {"1", "3"}) {
    hold({"invoice", source}, "host:1");
    hold({"job", source}, "host:1");
  }
  using keys = std::vector<lock_key>;
  EXPECT_EQ(keys_of({.after = lock_key{"invoice", "2"}}),
            (keys{{"invoice", "3"}, {"job", "1"}, {"job", "3"}}));
  EXPECT_EQ(keys_of({.type = "job", .after = lock_key{"invoice", "2"}}),
            (keys{{"job", "1"}, {"job", "3"}}));
  EXPECT_EQ(keys_of({.type = "job", .after = lock_key{"job", "2"}}), (keys{{"job", "3"}}));
  EXPECT_EQ(keys_of({.type = "invoice", .after = lock_key{"job", "2"}}), keys{});
}

TEST_P(ListRequest, WithBadInputIsMisuse) {
  const auto misuse = [&](const list_request& request) { return misuse_of(request, *rows_); };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(misuse({.type = ""}), "lock type is empty"));
  EXPECT_TRUE(says(misuse({.type = "a job"}), "lock type has a character"));
  EXPECT_TRUE(says(misuse({.type = std::string(65, 't')}), "lock type has 65 bytes"));
  EXPECT_TRUE(says(misuse({.holder = std::string(129, 'h')}), "the holder label has more than"));
  EXPECT_TRUE(says(misuse({.holder = "\xff"}), "the holder label must be valid UTF-8"));
  EXPECT_TRUE(says(misuse({.after = lock_key{"job", ""}}), "source id is empty"));
  EXPECT_TRUE(says(misuse({.limit = 0}), "1 to 10,000"));
  EXPECT_TRUE(says(misuse({.limit = 10'001}), "1 to 10,000"));
  for (const auto order : {row_order::age, row_order::remaining}) {
    EXPECT_TRUE(says(misuse({.sort = order, .after = lock_key{"job", "1"}}), "sort by key"));
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ListRequest, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
