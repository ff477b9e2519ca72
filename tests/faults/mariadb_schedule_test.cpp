// An ex-holder at its commit, on MariaDB: what a fence prevents, and that its weakened forms are
// found out.
#include <functional>
#include <ostream>
#include <string>

#include "mysql/mysql_table.hpp"

namespace rowlock::tests {
namespace {

/// How a transaction proves its lease: false, or an exception, when it does not.
struct proof {
  std::string name;
  std::function<bool(soci_transaction&, const lease&)> prove;

  friend std::ostream& operator<<(std::ostream& out, const proof& shown) {
    return out << shown.name;
  }
};

proof fence_of(std::string name, fence_kind kind) {
  return {std::move(name), [kind](soci_transaction& used, const lease& held) {
            fence(used.session(), held, {.kind = kind});
            return true;
          }};
}

const proof by_writing = fence_of("ByWriting", fence_kind::write);
const proof by_sharing = fence_of("BySharing", fence_kind::share);
const proof by_releasing{"ByReleasing", [](soci_transaction& used, const lease& held) {
                           release_with(used.session(), held);
                           return true;
                         }};
const proof off{"Off", [](soci_transaction&, const lease&) { return true; }};
const proof by_select{"ByPlainSelect", [](soci_transaction& used, const lease& held) {
                        int found = 0;
                        used.session() << "select count(*) from shared_lock where version = "
                                       << held.token().number,
                            soci::into(found);
                        return found == 1;
                      }};

std::string name_of_proof(const testing::TestParamInfo<proof>& tested) { return tested.param.name; }

class mariadb_schedule : public mysql_test, public testing::WithParamInterface<proof> {
 protected:
  mariadb_schedule() {
    database_.execute("create table counter (n int not null) engine = InnoDB");
    database_.execute("insert into counter values (0)");
  }

  [[nodiscard]] long long read_counter() const { return number("select n from counter"); }
  static void write_counter(soci_transaction& used, long long n) {
    used.session() << "update counter set n = " << n;
  }
  void commit_increment(soci_transaction& used, long long seen) {
    write_counter(used, seen + 1);
    used.commit();
    ++acknowledged_;
  }
  bool an_update_was_lost() { return read_counter() != acknowledged_; }

  /// Another holder does the same work, with the library's own fence, if it is let in; and goes on
  /// holding the key.
  bool let_successor_count() {
    auto taken = locks_.try_acquire(key_);
    if (!taken.acquired()) return false;
    const lease& held = successor_.emplace(*std::move(taken));
    const auto seen = read_counter();
    const auto session = connect();
    run_fenced<soci_transaction>(*session, held,
                                 [&](soci_transaction& used) { write_counter(used, seen + 1); });
    ++acknowledged_;
    return true;
  }

  /// A holder is paused past its lease while another does the work; then it proves and commits.
  void take_over_before_the_proof() {
    const lease held = *locks_.try_acquire(key_);
    const auto seen = read_counter();
    run_out(key_);
    ASSERT_TRUE(let_successor_count());
    const auto session = connect();
    soci_transaction open{*session};
    try {
      if (GetParam().prove(open, held)) commit_increment(open, seen);
    } catch (const lease_lost&) {
      EXPECT_ANY_THROW(open.commit());  // even if a caller swallowed it
    }
  }

  /// A holder whose lease has run out proves that no other took over yet, and is paused before it
  /// commits.
  void take_over_after_the_proof() {
    const lease held = *locks_.try_acquire(key_);
    const auto seen = read_counter();
    run_out(key_);
    const auto session = connect();
    soci_transaction open{*session};
    ASSERT_TRUE(GetParam().prove(open, held));
    let_successor_count();
    commit_increment(open, seen);
  }

 private:
  // Without renewal, so that nothing but the schedule changes the row.
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  std::optional<lease> successor_;
  int acknowledged_ = 0;
};

class MariadbFence : public mariadb_schedule {};

TEST_P(MariadbFence, LetsNoExHolderCommitThatWasTakenOverBeforeItsProof) {
  take_over_before_the_proof();
  EXPECT_FALSE(an_update_was_lost());
  EXPECT_EQ(read_counter(), 1);
}

TEST_P(MariadbFence, KeepsSuccessorsOutFromTheProofToTheCommit) {
  take_over_after_the_proof();
  EXPECT_FALSE(an_update_was_lost());
  EXPECT_TRUE(let_successor_count());
  EXPECT_FALSE(an_update_was_lost());
}

INSTANTIATE_TEST_SUITE_P(Schedule, MariadbFence,
                         testing::Values(by_writing, by_sharing, by_releasing), name_of_proof);

/// Negative controls: each of these must lose an update, or the schedules prove nothing.
class WeakenedMariadbFence : public mariadb_schedule {};

TEST_P(WeakenedMariadbFence, IsCaughtWhenTakenOverAfterTheProof) {
  take_over_after_the_proof();
  EXPECT_TRUE(an_update_was_lost());
}

INSTANTIATE_TEST_SUITE_P(Schedule, WeakenedMariadbFence, testing::Values(off, by_select),
                         name_of_proof);

class NoMariadbFence : public mariadb_schedule {};

TEST_P(NoMariadbFence, IsCaughtWhenTakenOverBeforeTheCommit) {
  take_over_before_the_proof();
  EXPECT_TRUE(an_update_was_lost());
}

INSTANTIATE_TEST_SUITE_P(Schedule, NoMariadbFence, testing::Values(off), name_of_proof);

}  // namespace
}  // namespace rowlock::tests
