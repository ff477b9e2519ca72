// Locks of the application's own rows, and commits against their versions.
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "support/caught_error.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Entity : public store_test {
 protected:
  Entity() {
    open_transaction inserting{*bench_};
    insert(inserting, "(1, 'a1', 'A', 1)");
    insert(inserting, "(2, 'a2', 'A', 2)");
    insert(inserting, "(3, 'o''n', 'o/n', 1)");
    inserting.commit();
  }

  void insert(open_transaction& inserting, const std::string& values) const {
    inserting->execute("insert into " + seats_ + " (id, code, hall, number) values " + values);
  }
  static outcome<void> lock(open_transaction& locking, const entity_table& table,
                            const row_id& id) {
    return locking->lock_entity(table, id, no_wait());
  }
  [[nodiscard]] versioned_table versions(const column_names& by, version_kind kind) const {
    const bool is_time = kind == version_kind::timestamp;
    return {.table = seats_,
            .id_column = by,
            .version_column = is_time ? "changed_at" : "version",
            .version_is = kind};
  }
  /// In a transaction of its own.
  std::int64_t seen(const versioned_table& table, const row_id& id) {
    open_transaction reading{*bench_};
    return *reading->read_version(table, id);
  }
  commit_result commit(const versioned_table& table, const row_id& id, std::int64_t expected) {
    open_transaction committing{*bench_};
    const auto result = committing->try_commit(table, id, expected);
    if (result == commit_result::committed) committing.commit();
    return result;
  }

  const std::string seats_ = bench_->connect()->seats();
  const entity_table by_id_{.table = seats_, .id_column = "id"};
  const entity_table by_code_{.table = seats_, .id_column = "code"};
  const entity_table by_place_{.table = seats_, .id_column = {"hall", "number"}};
};

TEST_P(Entity, IsLockedByANumberATextOrSeveralColumns) {
  open_transaction locking{*bench_};
  EXPECT_TRUE(lock(locking, by_id_, 1).acquired());
  EXPECT_TRUE(lock(locking, by_code_, "a2").acquired());
  EXPECT_TRUE(lock(locking, by_place_, {"o/n", 1}).acquired());
  EXPECT_TRUE(lock(locking, by_id_, 1).acquired());
  locking.commit();
}

// Where a file has one writer, the second transaction does not even begin.
TEST_P(Entity, IsKeptFromAnotherSessionUntilTheTransactionEnds) {
  const auto rival = bench_->connect();
  const auto why_not = [&]() -> std::optional<refusal_reason> {
    const auto begun = rival->begin();
    if (!begun.acquired()) return begun.refusal().reason;
    const auto locked = (*begun)->lock_entity(by_id_, 1, no_wait());
    if (locked.acquired()) return {};
    return locked.refusal().reason;
  };
  open_transaction locking{*bench_};
  ASSERT_TRUE(lock(locking, by_id_, 1).acquired());
  EXPECT_EQ(why_not(), refusal_reason::busy);
  locking.commit();
  EXPECT_EQ(why_not(), std::nullopt);
}

TEST_P(Entity, ThatIsNotThereIsMissingAndTheTransactionGoesOn) {
  open_transaction locking{*bench_};
  for (const auto& [table, id, shown] : std::vector<std::tuple<entity_table, row_id, std::string>>{
           {by_id_, 4, "4"},
           {by_code_, "o'", "o'"},
           {by_code_, "' OR 1 = 1 --", ""},
           {by_place_, {"A", 3}, "A/3"},
           {by_place_, {"o", 1}, "o/1"},
           {by_place_, {"o/n", 2}, "o%2Fn/2"}}) {
    const auto locked = locking->lock_entity(table, id, wait_for(patience));
    ASSERT_FALSE(locked.acquired());
    EXPECT_EQ(locked.refusal().reason, refusal_reason::missing);
    EXPECT_EQ(locked.refusal().key.type, seats_);
    if (!shown.empty()) {
      EXPECT_EQ(locked.refusal().key.source_id, shown);
    }
  }
  std::ostringstream text;
  text << lock(locking, by_id_, 4).refusal();
  EXPECT_EQ(text.str(), seats_ + "/4 does not exist");
  locking->write_note("goes on");
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), std::vector<std::string>{"goes on"});
}

TEST_P(Entity, OfANameOrAnIdThatCannotBeIsMisuseAndNothingIsSent) {
  open_transaction locking{*bench_};
  const std::string with_nul{"a\0b", 3};
  const auto lock_in = [&](const entity_table& table, const row_id& id) {
    return error_of([&] { (void)lock(locking, table, id); }).kind;
  };
  for (const auto& name : {std::string{}, std::string{"a b"}, std::string{"a\"b"}, with_nul,
                           std::string{"id = id --"}, std::string(64, 'n')}) {
    EXPECT_EQ(lock_in({.table = name, .id_column = "id"}, 1), errc::misuse);
    EXPECT_EQ(lock_in({.table = seats_, .id_column = name}, 1), errc::misuse);
    EXPECT_EQ(lock_in({.table = seats_, .id_column = {"id", name}}, {1, 1}), errc::misuse);
  }
  EXPECT_EQ(lock_in({.table = seats_, .id_column = {}}, row_id{std::vector<row_id::part>{}}),
            errc::misuse);
  EXPECT_EQ(lock_in(by_place_, "A"), errc::misuse);
  EXPECT_EQ(lock_in(by_id_, {"A", 1}), errc::misuse);
  EXPECT_EQ(lock_in(by_code_, with_nul), errc::misuse);
  locking->write_note("goes on");
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), std::vector<std::string>{"goes on"});
}

TEST_P(Entity, InATableOrByAColumnThatIsNotThereIsRejected) {
  const auto lock_in = [&](const entity_table& table) {
    open_transaction locking{*bench_};
    return error_of([&] { (void)lock(locking, table, 1); }).kind;
  };
  EXPECT_EQ(lock_in({.table = seats_ + "s", .id_column = "id"}), errc::rejected);
  EXPECT_EQ(lock_in({.table = seats_, .id_column = "ident"}), errc::rejected);
}

TEST_P(Entity, OfAVersionIsCommittedOnceByEachKindOfId) {
  for (const auto kind : {version_kind::number, version_kind::timestamp}) {
    for (const auto& [by, id] : std::vector<std::pair<column_names, row_id>>{
             {"id", 1}, {"code", "o'n"}, {{"hall", "number"}, {"A", 2}}}) {
      const auto table = versions(by, kind);
      const auto before = seen(table, id);
      EXPECT_EQ(commit(table, id, before), commit_result::committed);
      EXPECT_EQ(commit(table, id, before), commit_result::stale);
      EXPECT_GT(seen(table, id), before);
    }
  }
}

TEST_P(Entity, OfANumberAsVersionGetsTheNext) {
  const auto table = versions("id", version_kind::number);
  EXPECT_EQ(seen(table, 1), 1);
  EXPECT_EQ(commit(table, 1, 1), commit_result::committed);
  EXPECT_EQ(seen(table, 1), 2);
}

TEST_P(Entity, OfATimeAheadOfTheClockMovesByAMicrosecond) {
  open_transaction changing{*bench_};
  changing->execute("update " + seats_ + " set changed_at = '2100-01-02 03:04:05.999999'");
  changing.commit();
  const auto table = versions("id", version_kind::timestamp);
  const auto before = seen(table, 1);
  EXPECT_EQ(before % 1'000'000, 999'999);
  EXPECT_EQ(commit(table, 1, before), commit_result::committed);
  EXPECT_EQ(seen(table, 1), before + 1);
  EXPECT_EQ(commit(table, 1, before + 1), commit_result::committed);
  EXPECT_EQ(seen(table, 1), before + 2);
}

TEST_P(Entity, OfATimeBehindTheClockMovesToIt) {
  open_transaction changing{*bench_};
  changing->execute("update " + seats_ + " set changed_at = '2001-02-03 04:05:06.000007'");
  changing.commit();
  const auto table = versions("id", version_kind::timestamp);
  const auto before = seen(table, 1);
  EXPECT_EQ(before % 60'000'000, 6'000'007);
  constexpr std::int64_t a_year = 365LL * 24 * 3600 * 1'000'000;
  EXPECT_EQ(commit(table, 1, before), commit_result::committed);
  EXPECT_GT(seen(table, 1), before + 20 * a_year);
}

TEST_P(Entity, OfAVersionThatIsNotThereIsMissingOrStale) {
  for (const auto kind : {version_kind::number, version_kind::timestamp}) {
    const auto table = versions("id", kind);
    open_transaction reading{*bench_};
    EXPECT_EQ(reading->read_version(table, 7).refusal().reason, refusal_reason::missing);
    EXPECT_EQ(reading->try_commit(table, 7, 1), commit_result::stale);
  }
}

TEST_P(Entity, WithoutAVersionInItsColumnIsRejected) {
  open_transaction changing{*bench_};
  changing->execute("update " + seats_ + " set version = null, changed_at = null");
  changing.commit();
  for (const auto kind : {version_kind::number, version_kind::timestamp}) {
    open_transaction reading{*bench_};
    EXPECT_EQ(error_of([&] { (void)reading->read_version(versions("id", kind), 1); }).kind,
              errc::rejected);
    EXPECT_EQ(reading->try_commit(versions("id", kind), 1, 0), commit_result::stale);
  }
}

TEST_P(Entity, OfARolledBackCommitHasItsVersionBack) {
  for (const auto kind : {version_kind::number, version_kind::timestamp}) {
    const auto table = versions("id", kind);
    const auto before = seen(table, 1);
    {
      open_transaction committing{*bench_};
      EXPECT_EQ(committing->try_commit(table, 1, before), commit_result::committed);
      EXPECT_GT(*committing->read_version(table, 1), before);
    }
    EXPECT_EQ(seen(table, 1), before);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Entity);
INSTANTIATE_TEST_SUITE_P(Stores, Entity, testing::ValuesIn(stores_with_entities()), name_of);

}  // namespace
}  // namespace rowlock::tests
