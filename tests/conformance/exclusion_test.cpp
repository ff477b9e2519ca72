// The three ways to have a key exclude each other, in every combination, between threads.
#include <future>
#include <string>
#include <tuple>

#include "conformance/exclusion_cell.hpp"
#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

/// One holder and one contender, each with a store, a connection and a thread of its own.
class Exclusion : public testing::TestWithParam<exclusion_cell> {
 protected:
  const std::unique_ptr<store_bench> bench_ = std::get<0>(GetParam()).make();
  const mode holding_ = std::get<1>(GetParam());
  const mode contending_ = std::get<2>(GetParam());
  const std::shared_ptr<store> holders_rows_ = bench_->open();
  const std::shared_ptr<store> contenders_rows_ = bench_->open(20ms);
  possession holder_{*holders_rows_, connection()};
  possession contender_{*contenders_rows_, connection()};
  const lock_key key_{.type = "invoice", .source_id = "42"};

  std::unique_ptr<app_connection> connection() {
    return std::get<0>(GetParam()).has_transactions ? bench_->connect() : nullptr;
  }

  /// In its own thread; none if it does not come back, so that a wait fails the test.
  std::optional<outcome<version>> contend() {
    auto contending = std::async(std::launch::async,
                                 [this] { return contender_.try_acquire(contending_, key_); });
    if (contending.wait_for(patience) == std::future_status::ready) return contending.get();
    holder_.end();
    return std::nullopt;
  }
};

TEST_P(Exclusion, RefusesTheContenderUntilTheHolderEnds) {
  ASSERT_TRUE(holder_.try_acquire(holding_, key_).acquired());
  const auto during = contend();
  ASSERT_TRUE(during) << "the contender waited";
  EXPECT_FALSE(during->acquired());
  holder_.end();
  const auto after = contend();
  ASSERT_TRUE(after && after->acquired());
  contender_.end();
}

TEST_P(Exclusion, OfAnExistingRowIsTheSame) {
  holders_rows_->read(std::array{key_}, read_mode::ready_to_commit);
  ASSERT_TRUE(holder_.try_acquire(holding_, key_).acquired());
  const auto during = contend();
  ASSERT_TRUE(during) << "the contender waited";
  EXPECT_FALSE(during->acquired());
  holder_.end();
  const auto after = contend();
  ASSERT_TRUE(after && after->acquired());
  contender_.end();
}

// A version read before a possession of the key is stale after it, in each of the three ways.
class VersionReadBefore : public testing::TestWithParam<std::tuple<bench_kind, mode>> {};

TEST_P(VersionReadBefore, IsStaleAfterSomebodyHadTheKey) {
  const auto bench = std::get<0>(GetParam()).make();
  const auto rows = bench->open();
  const lock_key key{.type = "invoice", .source_id = "42"};
  const auto seen = rows->read(std::array{key}, read_mode::ready_to_commit).at(0).value().version;
  possession other{*rows, bench->connect()};
  ASSERT_TRUE(other.try_acquire(std::get<1>(GetParam()), key).acquired());
  other.end();

  const auto acquired = lock_table{*rows}.try_acquire(key, {.expected = seen});
  ASSERT_FALSE(acquired.acquired());
  EXPECT_EQ(acquired.refusal().reason, refusal_reason::stale);
  open_transaction committing{*bench};
  EXPECT_EQ(committing->try_commit(key, seen), commit_result::stale);
}

std::string name_of_row(const testing::TestParamInfo<std::tuple<bench_kind, mode>>& instance) {
  const auto& [kind, how] = instance.param;
  return kind.name + '_' + mode_name(how);
}

INSTANTIATE_TEST_SUITE_P(Stores, Exclusion, testing::ValuesIn(every_cell_of(every_store())),
                         name_of_cell);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VersionReadBefore);
INSTANTIATE_TEST_SUITE_P(Stores, VersionReadBefore,
                         testing::Combine(testing::ValuesIn(stores_with_transactions()),
                                          testing::ValuesIn(every_mode())),
                         name_of_row);

}  // namespace
}  // namespace rowlock::tests
