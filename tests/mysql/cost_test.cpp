// What the statements cost a MariaDB server. These tests want it for themselves.
#include <vector>

#include "mysql/mysql_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class MysqlCost : public mysql_test {
 protected:
  MysqlCost() {
    acquire_and_release();
    await_others_end();
  }

  void acquire_and_release() { release(rows_, key_, *acquire(rows_, key_).version); }

  [[nodiscard]] long long status(const std::string& name) {
    std::string variable;
    std::string value;
    *watching_ << "show global status like '" << name << "'", ::soci::into(variable),
        ::soci::into(value);
    return std::stoll(value);
  }
  /// Until no session is left but that of `rows_` and our own: the end of another is a statement to
  /// the server, which it may count when that session is closed already.
  void await_others_end() {
    await_that([&] { return status("Threads_connected") == 2; });
  }
  /// Statements that `work` sent.
  template <class Work>
  long long statements_of(const Work& work) {
    const auto before = status("Questions");
    work();
    return status("Questions") - before - 1;  // our own
  }
  /// Bytes of redo log so far, once no session writes any.
  long long redo() {
    long long last = 0;
    int unchanged = 0;
    await_that([&] {
      const auto now = status("Innodb_lsn_current");
      unchanged = now == last ? unchanged + 1 : 0;
      last = now;
      return unchanged == 100;
    });
    return last;
  }
  std::vector<acquire_request> requests(int count) {
    std::vector<acquire_request> all;
    for (int i = 0; i < count; ++i) all.push_back(request({"batch", std::to_string(i)}));
    return all;
  }

  std::unique_ptr<::soci::session> watching_ = connect();
};

TEST_F(MysqlCost, AcquireRenewalAndReleaseOfAnExistingRowAreOneStatementEach) {
  acquire_answer granted;
  EXPECT_EQ(statements_of([&] { granted = acquire(rows_, key_); }), 1);
  EXPECT_EQ(statements_of([&] { renew(rows_, key_, *granted.version); }), 1);
  EXPECT_EQ(statements_of([&] { release(rows_, key_, *granted.version); }), 1);
}

TEST_F(MysqlCost, ARefusalIsTwoStatementsAndAMissingRowThree) {
  acquire(rows_, key_);
  const acquire_request theirs{
      .key = key_, .owner = make_owner_id(), .holder = "host:2", .ttl = 1h};
  EXPECT_EQ(statements_of([&] { rows_.acquire(std::array{theirs}); }), 2);
  EXPECT_EQ(statements_of([&] { acquire(rows_, other_key_); }), 3);
}

TEST_F(MysqlCost, ABatchIsAFewStatementsHoweverLarge) {
  const auto wanted = requests(200);
  EXPECT_EQ(statements_of([&] { rows_.acquire(wanted); }), 3);  // read, insert, read

  std::vector<renew_request> renewals;
  std::vector<release_request> releases;
  for (const auto& row : rows_.list()) {
    renewals.push_back({row.key, mine_, row.version, 1h});
    releases.push_back({row.key, mine_, row.version});
  }
  ASSERT_EQ(renewals.size(), 200);
  EXPECT_EQ(statements_of([&] { rows_.renew(renewals); }), 1);
  EXPECT_EQ(statements_of([&] { rows_.release(releases); }), 4);  // begin, lock, write, commit
  EXPECT_EQ(statements_of([&] { rows_.acquire(wanted); }), 3);    // read, write, read
}

TEST_F(MysqlCost, AGrantedSetIsTwoStatementsAndARefusedOneIsOne) {
  const auto wanted = requests(200);
  EXPECT_EQ(statements_of([&] { rows_.acquire(wanted, {acquire_mode::all_or_none}); }),
            2);  // read, write: rows are missing
  EXPECT_EQ(statements_of([&] { rows_.acquire(wanted, {acquire_mode::all_or_none}); }),
            2);  // once more
  auto theirs = wanted;
  for (auto& request : theirs) request.owner = make_owner_id();
  EXPECT_EQ(statements_of([&] { rows_.acquire(theirs, {acquire_mode::all_or_none}); }), 1);
  EXPECT_EQ(statements_of([&] { rows_.acquire(theirs, {acquire_mode::any, 50}); }), 1);
  for (const auto& row : rows_.list()) release(rows_, row.key, row.version);
  EXPECT_EQ(statements_of([&] { rows_.acquire(theirs, {acquire_mode::all_or_none}); }), 2);
}

TEST_F(MysqlCost, SomeOfASetAreFiveStatements) {
  const auto wanted = requests(200);
  rows_.read(std::vector<lock_key>{wanted[7].key, wanted[8].key, wanted[9].key},
             read_mode::ready_to_commit);
  // Read, begin, lock, write, commit.
  EXPECT_EQ(statements_of([&] { rows_.acquire(wanted, {acquire_mode::any, 2}); }), 5);
}

TEST_F(MysqlCost, ANoteAndAReleaseByForceAreOneStatementAndAPurgeIsTwo) {
  const auto held = *acquire(rows_, key_).version;
  EXPECT_EQ(statements_of([&] {
              rows_.write_note({.key = key_, .owner = mine_, .version = held, .note = "n"});
            }),
            1);
  EXPECT_EQ(statements_of(
                [&] { rows_.force_release({.key = key_, .version = held, .reason = "a test"}); }),
            1);
  const purge_request everything{.older_than = 1h};
  EXPECT_EQ(statements_of([&] { EXPECT_EQ(rows_.purge(everything).purged, 0); }), 1);
  *watching_ << "update shared_lock set version = 1";
  EXPECT_EQ(statements_of([&] { EXPECT_EQ(rows_.purge(everything).purged, 1); }), 2);
}

TEST_F(MysqlCost, ARefusedAttemptWritesNoLog) {
  acquire(rows_, key_);
  const auto before = redo();
  for (int i = 0; i < 2000; ++i) {
    const acquire_request theirs{
        .key = key_, .owner = make_owner_id(), .holder = "host:2", .ttl = 1h};
    ASSERT_EQ(rows_.acquire(std::array{theirs}).front().status, acquire_status::held);
  }
  const auto after_refusals = redo();
  acquire_and_release();
  acquire(rows_, other_key_);
  EXPECT_GT(redo() - after_refusals, 100);
  // Less than ten bytes each: that is the server's own housekeeping, more on a slower machine.
  EXPECT_LT(after_refusals - before, 20'000);
}

TEST_F(MysqlCost, AFenceIsOneStatement) {
  lock_table locks{rows_, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(key_);
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(statements_of([&] { fence(*session, held); }), 1);
}

TEST_F(MysqlCost, ARowLockIsTwoStatements) {
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(statements_of([&] { (void)lock_rows(work, key_, no_wait()); }), 2);
}

}  // namespace
}  // namespace rowlock::tests
