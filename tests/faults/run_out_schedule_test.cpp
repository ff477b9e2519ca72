// An optimistic commit against a lease that has run out, and whose holder may still commit.
#include <functional>
#include <optional>
#include <string>

#include "faults/counter_schedule.hpp"

namespace rowlock::tests {
namespace {

/// How an optimistic commit reads the version and moves it.
struct gate {
  std::function<std::optional<version>(pqxx::work&)> read;
  std::function<bool(pqxx::work&, version)> move;
};

class RunOutLease : public counter_schedule {
 protected:
  gate librarys_own() {
    return {[this](pqxx::work& work) -> std::optional<version> {
              const auto seen = read_version(work, key_, table());
              return seen.acquired() ? std::optional{*seen} : std::nullopt;
            },
            [this](pqxx::work& work, version seen) {
              return try_commit(work, key_, seen, table()) == commit_result::committed;
            }};
  }

  /// Takes an owned row for a free one as soon as its lease has run out.
  gate content_with_run_out() {
    return {[this](pqxx::work& work) -> std::optional<version> {
              const auto seen = work.exec("select version from " + name() + row(key_) +
                                          " and expires_at <= clock_timestamp()");
              if (seen.empty()) return std::nullopt;
              return version{seen[0][0].as<std::int64_t>()};
            },
            [this](pqxx::work& work, version seen) {
              return work.exec("update " + name() + " set version = version + 1" + row(key_) +
                               " and expires_at <= clock_timestamp() and version = " +
                               std::to_string(seen.number))
                         .affected_rows() == 1;
            }};
  }

  /// Both have read the counter when the late holder commits, and then the other one.
  void commit_late_and_optimistically(const gate& used) {
    const lease held = acquire_lease();
    let_lease_run_out();
    const int holder_saw = read_counter();
    open_work open;
    const auto seen = used.read(open.work);
    ASSERT_TRUE(seen);
    const int other_saw = read_counter();
    pqxx::connection connection{postgres_url()};
    try {
      run_fenced<pqxx::work>(
          connection, held, [&](pqxx::work& work) { write_counter(work, holder_saw + 1); }, {},
          table());
      ++acknowledged_;
    } catch (const lease_lost&) {
      EXPECT_EQ(read_counter(), holder_saw);
    }
    if (used.move(open.work, *seen)) commit_increment(open.work, other_saw);
  }
};

TEST_F(RunOutLease, IsUnsetByTheReadOfAnOptimisticCommitSoOnlyOneOfTheTwoCommits) {
  commit_late_and_optimistically(librarys_own());
  EXPECT_EQ(acknowledged_, 1);
  EXPECT_FALSE(an_update_was_lost());
}

TEST_F(RunOutLease, TakenForAFreeOneIsCaught) {
  commit_late_and_optimistically(content_with_run_out());
  EXPECT_EQ(acknowledged_, 2);
  EXPECT_TRUE(an_update_was_lost());
}

}  // namespace
}  // namespace rowlock::tests
