// A group of MySQL with several primaries: what holds between its members, and what is refused.
// script/check-matrix mysql-group runs it, on the group that script/support/throwaway-mysql-group
// makes.
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/soci.hpp"
#include "rowlock/soci_store.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class MysqlGroup : public testing::Test {
 protected:
  static constexpr std::size_t members = 3;

  MysqlGroup() {
    soci::session first{target(0)};
    first << "drop table if exists shared_lock, shared_lock_schema, note, held_back";
    migrate_soci(target(0));
    first << "create table note (id int primary key, text varchar(100)) engine = InnoDB";
    first << "create table held_back (id int primary key) engine = InnoDB";
    for (std::size_t member = 0; member < members; ++member) {
      catch_up(member);
      stores_.push_back(std::make_unique<soci_store>(target(member)));
      // Without renewal, so that nothing but the test changes the rows.
      tables_.push_back(
          std::make_unique<lock_table>(*stores_.back(), lock_options{.ttl = 1h, .renew = false}));
    }
  }
  ~MysqlGroup() override { tables_.clear(); }

  static std::string target(std::size_t member) {
    const char* named = std::getenv("ROWLOCK_TEST_MYSQL_GROUP");  // NOLINT(concurrency-mt-unsafe)
    if (named == nullptr) {
      throw std::runtime_error{"no group to test with: run script/check-matrix mysql-group"};
    }
    std::istringstream addresses{named};
    std::string address;
    for (std::size_t i = 0; i <= member; ++i) addresses >> address;
    return database_url{address}.target();
  }
  /// Until the member has applied what was committed at the others.
  static void catch_up(std::size_t member) {
    soci::session there{target(member)};
    there << "set session group_replication_consistency = 'BEFORE'";
    int one = 0;
    there << "select 1", soci::into(one);
  }
  static void execute_at(std::size_t member, const std::string& sql) {
    soci::session there{target(member)};
    there << sql;
  }
  static int notes_at(std::size_t member) {
    catch_up(member);
    soci::session there{target(member)};
    int count = 0;
    there << "select count(*) from note", soci::into(count);
    return count;
  }
  lock_table& locks(std::size_t member) { return *tables_.at(member); }
  soci_store& rows(std::size_t member) { return *stores_.at(member); }

  static void expect_refused(const std::function<void()>& call) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_NE(caught.message().find("a group of MySQL with several primaries"), std::string::npos)
        << caught.message();
  }

  const lock_key key_{.type = "group", .source_id = "1"};
  const soci_table one_writer_{table_name{}, true};

 private:
  std::vector<std::unique_ptr<soci_store>> stores_;
  std::vector<std::unique_ptr<lock_table>> tables_;
};

TEST_F(MysqlGroup, IsNamedAmongTheWeakSettings) {
  const auto weak = rows(1).weak_settings();
  EXPECT_TRUE(std::ranges::any_of(weak, [](const std::string& each) {
    return each.starts_with("this server is a member of a group with several primaries");
  }));
}

TEST_F(MysqlGroup, HoldsALeaseAtEveryMember) {
  auto held = locks(0).try_acquire(key_);
  ASSERT_TRUE(held.acquired());
  for (std::size_t member = 1; member < members; ++member) {
    catch_up(member);
    const auto refused = locks(member).try_acquire(key_);
    ASSERT_FALSE(refused.acquired());
    EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  }
  const auto token = held->token();
  EXPECT_EQ(held->release(), release_result::released);
  catch_up(2);
  const auto next = locks(2).try_acquire(key_);
  ASSERT_TRUE(next.acquired());
  EXPECT_GT(next->token(), token);
}

// Another member's clock may not have reached that time yet. That takes a second; a machine that
// stands still for so long gets another try.
TEST_F(MysqlGroup, TakesNoLeaseOverAsSoonAsItRanOutByTheClockOfOneMember) {
  const auto held = locks(0).try_acquire(key_);
  bool is_refused = false;
  for (int i = 0; i < 10 && !is_refused; ++i) {
    execute_at(0, "update shared_lock set expires_at = utc_timestamp(6)");
    is_refused = !locks(0).try_acquire(key_).acquired();
  }
  EXPECT_TRUE(is_refused);
  soci_store on_one_clock{target(0), {.clock_skew = 0ms}};
  lock_table there{on_one_clock};
  EXPECT_TRUE(there.try_acquire(key_).acquired());
}

TEST_F(MysqlGroup, RefusesRowLocksUnlessOneMemberWrites) {
  soci::session session{target(0)};
  soci_transaction work{session};
  expect_refused([&] { (void)lock_rows(work, key_, no_wait()); });
  expect_refused([&] { (void)lock_rows(work, {key_, {"group", "2"}}, no_wait()); });
  EXPECT_TRUE(lock_rows(work, key_, no_wait(), one_writer_).acquired());
  soci::session another{target(0)};
  soci_transaction later{another};
  EXPECT_FALSE(lock_rows(later, key_, no_wait(), one_writer_).acquired());
}

TEST_F(MysqlGroup, RefusesLocksOfTheApplicationsRowsUnlessOneMemberWrites) {
  execute_at(0, "insert into note values (1, 'a')");
  const entity_table notes{.table = "note", .id_column = "id"};
  soci::session session{target(0)};
  soci_transaction work{session};
  expect_refused([&] { (void)lock_entity(session, notes, 1, no_wait()); });
  EXPECT_TRUE(lock_entity(session, notes, 1, no_wait(), one_writer_).acquired());
}

TEST_F(MysqlGroup, RefusesAFenceThatSharesTheRow) {
  const lease held = *locks(0).try_acquire(key_);
  soci::session session{target(0)};
  soci_transaction work{session};
  expect_refused([&] { fence(session, held, {.kind = fence_kind::share}); });
}

TEST_F(MysqlGroup, CommitsNothingFencedByALeaseThatWasTakenOverAtAnotherMember) {
  const lease held = *locks(0).try_acquire(key_);
  soci::session session{target(0)};
  int runs = 0;
  const auto run = [&] {
    run_fenced<soci_transaction>(session, held, [&](soci_transaction& work) {
      work.session() << "insert into note values (1, 'of the first holder')";
      if (++runs > 1) return;
      // The first holder fences, and its member has not applied the takeover when it commits.
      fence(work.session(), held);
      catch_up(1);
      execute_at(1, "update shared_lock set expires_at = utc_timestamp(6) - interval 1 minute");
      ASSERT_TRUE(locks(1).try_acquire(key_).acquired());
    });
  };
  EXPECT_THROW(run(), lease_lost);
  EXPECT_EQ(notes_at(0), 0);
}

// The other's change is certified at this member, and cannot be applied: so the commit loses the
// certification. (An applied one would end the transaction before, with error 1213.)
TEST_F(MysqlGroup, RunsATransactionAgainThatLostItsCertification) {
  execute_at(0, "insert into note values (1, '')");
  catch_up(1);
  const lease held = *locks(0).try_acquire(key_);
  soci::session applier_stopper{target(0)};
  applier_stopper << "lock tables held_back write";
  soci::session session{target(0)};
  int runs = 0;
  run_fenced<soci_transaction>(session, held, [&](soci_transaction& work) {
    if (++runs == 2) {
      applier_stopper << "unlock tables";
      catch_up(0);
    }
    work.session() << "update note set text = concat(text, 'here ') where id = 1";
    if (runs > 1) return;
    soci::session there{target(1)};
    soci_transaction other{there};
    there << "insert into held_back values (1)";
    there << "update note set text = concat(text, 'there ') where id = 1";
    other.commit();
  });
  EXPECT_EQ(runs, 2);
  std::string text;
  session << "select text from note", soci::into(text);
  EXPECT_EQ(text, "there here ");
}

}  // namespace
}  // namespace rowlock::tests
