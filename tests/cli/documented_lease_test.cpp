// Leases by the statements of docs/sql.md, executed as they stand there, beside leases of the
// library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/documented_script.hpp"
#include "cli/documented_statement.hpp"
#include "rowlock/lock_table.hpp"
#include "support/documented.hpp"
#include "support/mariadb_line.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;

/// The key is job/nightly.
class DocumentedLease : public LockedCliTest {
 protected:
  static constexpr std::int64_t minute_ms{60'000};
  static constexpr std::int64_t hour_ms{3'600'000};

  [[nodiscard]] bool is_mysql() const { return database_->url().starts_with("mysql"); }

  /// The statement of this database.
  [[nodiscard]] std::string statement(const std::string& operation,
                                      const std::string& containing = {}) const {
    const auto of_file = database_->url().starts_with("sqlite://");
    const std::string database = is_mysql() ? "MariaDB and MySQL"
                                 : of_file  ? "SQLite"
                                            : "PostgreSQL";
    return documented_sql(database + ": " + operation, "sql", containing);
  }
  [[nodiscard]] statement_answer answer(const std::string& sql,
                                        const documented_values& values) const {
    return execute_documented(database_->url(), is_mysql() ? sql : in_table(sql), values);
  }

  /// The token. `condition` is added to what a row must be.
  [[nodiscard]] std::optional<version> acquire(const std::string& owner = std::string(32, 'a'),
                                               const std::string& condition = {}) const {
    return is_mysql() ? acquire_on_mysql(owner, condition) : acquire_at_once(owner, condition);
  }
  /// How many rows they change. The fence of SQLite returns a number instead.
  [[nodiscard]] std::int64_t renew(version token, std::int64_t ttl_ms = minute_ms) const {
    auto values = of_lease(token);
    const documented_value ttl{"ttl_ms", ttl_ms};
    values.insert(values.begin(), is_mysql() ? 2 : 1, ttl);
    return answer(statement("renew"), values).changed;
  }
  [[nodiscard]] std::int64_t release(version token) const {
    return answer(statement("release"), of_lease(token)).changed;
  }
  /// `passed` is the text of the lease.
  [[nodiscard]] bool take_over(const std::string& passed, const std::string& owner) const {
    const auto end = passed.rfind('.');
    const auto begin = passed.rfind('.', end - 1) + 1;
    const documented_value token{"token", std::int64_t{std::stoll(passed.substr(begin))}};
    const documented_value former{"passed", passed.substr(end + 1)};
    const documented_value of_owner{"owner", owner};
    const documented_value holder{"holder", std::string{"by hand"}};
    const documented_value ttl{"ttl_ms", minute_ms};
    const auto key = of_key();
    const auto given = answer(
        statement("take over"),
        is_mysql() ? documented_values{of_owner, holder, ttl, ttl, key[0], key[1], token, former}
                   : documented_values{of_owner, holder, ttl, key[0], key[1], token, former});
    return given.changed == 1 || !given.rows.empty();
  }
  [[nodiscard]] bool ask(const std::string& by, const std::string& reason) const {
    documented_values values{{"by", by}, {"reason", reason}};
    for (const auto& part : of_key()) values.push_back(part);
    const auto given = answer(statement("ask"), values);
    return given.changed == 1 || !given.rows.empty();
  }
  [[nodiscard]] std::int64_t fence(version token) const {
    const auto given = answer(statement("fence"), of_lease(token));
    return given.rows.empty() ? given.changed : std::stoll(given.rows[0][0].value());
  }

  /// version, owner, holder, left_ms
  [[nodiscard]] std::vector<std::optional<std::string>> read() const {
    return answer(statement("read"), of_key()).rows.at(0);
  }
  [[nodiscard]] std::int64_t left_ms() const { return std::stoll(read().at(3).value()); }

  outcome<lease> try_acquire_by_the_library() { return locks_.try_acquire({"job", "nightly"}); }
  void run_out() const { execute("update shared_lock set expires_at = '1970-01-01 00:00:00.000'"); }

  const std::unique_ptr<store> rows_ = open();
  lock_table locks_{*rows_, {.ttl = 1h}};

 private:
  static documented_values of_key() {
    return {{"type", std::string{"job"}}, {"source", std::string{"nightly"}}};
  }
  static documented_values of_lease(version token) {
    auto values = of_key();
    values.push_back({"token", token.number});
    return values;
  }

  [[nodiscard]] std::optional<version> acquire_at_once(const std::string& owner,
                                                       const std::string& condition) const {
    auto values = of_key();
    values.push_back({"owner", owner});
    values.push_back({"holder", std::string{"by hand"}});
    values.push_back({"ttl_ms", minute_ms});
    const auto given = answer(with_condition(statement("acquire"), condition), values);
    if (given.rows.empty()) return std::nullopt;
    return version{std::stoll(given.rows.at(0).at(0).value())};
  }

  [[nodiscard]] std::optional<version> acquire_on_mysql(const std::string& owner,
                                                        const std::string& condition) const {
    const documented_value of_owner{"owner", owner};
    const documented_value holder{"holder", std::string{"by hand"}};
    const documented_value ttl{"ttl_ms", minute_ms};
    const auto key = of_key();
    const auto taken = answer(with_condition(statement("acquire", "UPDATE"), condition),
                              {of_owner, holder, ttl, ttl, key[0], key[1]});
    try {
      if (taken.changed == 0) {
        (void)answer(statement("acquire", "INSERT"), {key[0], key[1], of_owner, holder, ttl, ttl});
      }
    } catch (const mariadb_error& thrown) {
      constexpr unsigned unique_violation = 1062;
      if (thrown.number() != unique_violation) throw;
      return std::nullopt;
    }
    const auto seen = read();
    if (seen.at(1) != owner) throw std::runtime_error{"granted, and to another owner"};
    return version{std::stoll(seen.at(0).value())};
  }

  /// Behind the condition with expires_at, with the time that stands there.
  static std::string with_condition(std::string sql, const std::string& condition) {
    if (condition.empty()) return sql;
    const std::string before = "expires_at <= ";
    const auto at = sql.rfind(before, sql.find("RETURNING version),"));
    const auto begin = at + before.size();
    const auto time = sql.substr(begin, sql.find_first_of(";\n", begin) - begin);
    return sql.insert(begin + time.size(), " AND " + with_each(condition, "{time}", time));
  }
};

TEST_P(DocumentedLease, OfANewKeyExcludesTheLibraryUntilItIsReleased) {
  const auto token = acquire();
  ASSERT_TRUE(token);
  const auto refused = try_acquire_by_the_library();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().holder, "by hand");
  EXPECT_EQ(fence(*token), 1);
  EXPECT_EQ(release(*token), 1);
  EXPECT_EQ(fence(*token), 0);
  const auto next = try_acquire_by_the_library();
  ASSERT_TRUE(next.acquired());
  EXPECT_GT(next->token(), *token);
}

TEST_P(DocumentedLease, IsRefusedWhileTheLibraryHasTheKey) {
  auto held = try_acquire_by_the_library();
  ASSERT_TRUE(held.acquired());
  EXPECT_FALSE(acquire());
  EXPECT_EQ(held->release(), release_result::released);
  const auto token = acquire();
  ASSERT_TRUE(token);
  EXPECT_GT(*token, held->token());
  EXPECT_FALSE(acquire(std::string(32, 'b')));
}

TEST_P(DocumentedLease, TakesOverOneOfTheLibraryThatRanOut) {
  auto held = try_acquire_by_the_library();
  ASSERT_TRUE(held.acquired());
  run_out();
  const auto token = acquire();
  ASSERT_TRUE(token);
  EXPECT_GT(*token, held->token());
  EXPECT_EQ(number("select expiry_count from shared_lock"), 1);
  EXPECT_EQ(held->release(), release_result::lost);
  EXPECT_EQ(fence(*token), 1);
}

TEST_P(DocumentedLease, ThatWasTakenOverChangesNothing) {
  const auto token = acquire();
  ASSERT_TRUE(token);
  run_out();
  auto held = try_acquire_by_the_library();
  ASSERT_TRUE(held.acquired());
  const auto before = number("select version from shared_lock");
  EXPECT_EQ(renew(*token, hour_ms * 10), 0);
  EXPECT_EQ(release(*token), 0);
  EXPECT_EQ(fence(*token), 0);
  EXPECT_EQ(number("select version from shared_lock"), before);
  EXPECT_LE(left_ms(), hour_ms);
  EXPECT_EQ(held->release(), release_result::released);
}

TEST_P(DocumentedLease, TakesOverOneThatTheLibraryPassedOn) {
  auto held = try_acquire_by_the_library();
  ASSERT_TRUE(held.acquired());
  const auto passed = held->pass_on();
  EXPECT_FALSE(take_over(passed + "0", std::string(32, 'c'))) << "another owner";
  ASSERT_TRUE(take_over(passed, std::string(32, 'c')));
  EXPECT_EQ(read().at(1), std::string(32, 'c'));
  const version token{std::stoll(read().at(0).value())};
  EXPECT_GT(token, held->token());
  EXPECT_FALSE(take_over(passed, std::string(32, 'd')));
  EXPECT_EQ(fence(token), 1);
  EXPECT_EQ(release(token), 1);
}

TEST_P(DocumentedLease, DoesNotTakeOverOneThatRanOut) {
  const auto passed = try_acquire_by_the_library()->pass_on();
  run_out();
  EXPECT_FALSE(take_over(passed, std::string(32, 'c')));
}

TEST_P(DocumentedLease, IsAskedForAndTheLibrarySeesIt) {
  auto held = try_acquire_by_the_library();
  ASSERT_TRUE(held.acquired());
  ASSERT_TRUE(ask("ann", "deploy"));
  const auto wanted = held->wanted();
  await_that([&] { return wanted.stop_requested(); });
  EXPECT_EQ(held->asked()->by, "ann");
  EXPECT_EQ(held->asked()->reason, "deploy");
  EXPECT_EQ(held->release(), release_result::released);
  EXPECT_FALSE(ask("ann", "deploy"));
}

TEST_P(DocumentedLease, HasAnOwnerWhateverTheVersion) {
  const auto token = acquire();
  ASSERT_TRUE(token);
  EXPECT_EQ(release(*token), 1);
  const version unowned{std::stoll(read().at(0).value())};
  EXPECT_EQ(fence(unowned), 0);
  EXPECT_EQ(renew(unowned), 0);
  EXPECT_EQ(release(unowned), 0);
}

TEST_P(DocumentedLease, LastsLongerWhenItIsRenewed) {
  const auto token = acquire();
  ASSERT_TRUE(token);
  EXPECT_LE(left_ms(), minute_ms);
  EXPECT_EQ(number("select ttl_us from shared_lock"), minute_ms * 1000);
  EXPECT_EQ(renew(*token, hour_ms), 1);
  EXPECT_GT(left_ms(), minute_ms);
  EXPECT_EQ(number("select ttl_us from shared_lock"), hour_ms * 1000);
  EXPECT_EQ(number("select version from shared_lock"), token->number);
}

TEST_P(DocumentedLease, IsReadWithItsHolderAndTheTimeLeft) {
  const std::string owner(32, 'c');
  const auto token = acquire(owner);
  ASSERT_TRUE(token);
  EXPECT_THAT(read(), testing::ElementsAre(std::to_string(token->number), owner, "by hand",
                                           testing::Ne(std::nullopt)));
  run_out();
  EXPECT_LT(left_ms(), 0);
}

TEST_P(DocumentedLease, IsNotGrantedOnAClosedRow) {
  (void)locks_.with_lock({"job", "nightly"}, [](const lease&) {}, {.hold_at_least = 1h});
  EXPECT_EQ(read().at(1), std::nullopt);
  EXPECT_GT(left_ms(), 0);
  EXPECT_FALSE(acquire());
}

TEST_P(DocumentedLease, IsRefusedForDoneWorkByTheConditionOfTheRules) {
  const std::string done = "done_until <= {time}";
  const auto first = acquire(std::string(32, 'a'), done);
  ASSERT_TRUE(first);
  EXPECT_EQ(release(*first), 1);
  const auto second = acquire(std::string(32, 'b'), done);
  ASSERT_TRUE(second);
  EXPECT_EQ(release(*second), 1);
  execute(
      "update shared_lock set done_by = version, done_at = expires_at, "
      "done_until = '2999-01-01 00:00:00.000'");
  EXPECT_FALSE(acquire(std::string(32, 'c'), done));
  EXPECT_TRUE(acquire(std::string(32, 'c')));
}

ROWLOCK_ON_EVERY_DATABASE(DocumentedLease);

}  // namespace

}  // namespace rowlock::tests
