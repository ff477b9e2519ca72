// Fences in transactions of the application, where MariaDB has its own ways.
#include "mysql/mysql_table.hpp"

namespace rowlock::tests {
namespace {

class MysqlFence : public mysql_test {
 protected:
  MysqlFence() { database_.execute("create table note (text varchar(100)) engine = InnoDB"); }
  lease acquire_lease(const lock_key& key) { return *locks_.try_acquire(key); }
  [[nodiscard]] long long notes() const { return number("select count(*) from note"); }
  void move_version() { database_.execute("update shared_lock set version = version + 1"); }

  /// If on, a statement that meets a row that changed after the snapshot fails and ends the
  /// transaction (1020). On by default from MariaDB 11.6 on. False if the server does not know it.
  static bool set_snapshot_isolation(::soci::session& session, bool is_on) {
    std::string name;
    std::string value;
    session << "show variables like 'innodb_snapshot_isolation'", ::soci::into(name),
        ::soci::into(value);
    if (!session.got_data()) return false;
    session << "set innodb_snapshot_isolation = " << (is_on ? 1 : 0);
    return true;
  }

  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
};

TEST_F(MysqlFence, IsMisuseWithoutATransaction) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  EXPECT_EQ(error_of([&] { fence(*session, held); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { release_with(*session, held); }).kind, errc::misuse);
}

TEST_F(MysqlFence, ByWritingIsOneAtATimeAndBySharingSeveral) {
  const lease held = acquire_lease(key_);
  const auto one = connect();
  const auto other = connect();
  one->begin();
  other->begin();
  fence(*one, held, {.kind = fence_kind::share});
  fence(*other, held, {.kind = fence_kind::share});
  one->commit();
  other->commit();

  one->begin();
  other->begin();
  fence(*one, held);
  const auto caught = error_of([&] { fence(*other, held); });
  EXPECT_EQ(caught.kind, errc::lease_lost);
  EXPECT_NE(caught.message().find("may still be held"), std::string::npos) << caught.message();
  one->commit();
}

TEST_F(MysqlFence, OfEitherKindKeepsAKeyFromBeingTakenOver) {
  const lease held = acquire_lease(key_);
  run_out(key_);
  const acquire_request theirs{
      .key = key_, .owner = make_owner_id(), .holder = "host:2", .ttl = 1h};
  for (const auto kind : {fence_kind::write, fence_kind::share}) {
    const auto session = connect();
    session->begin();
    fence(*session, held, {.kind = kind});
    EXPECT_EQ(rows_.acquire(std::array{theirs}).front().status, acquire_status::busy);
    session->commit();
  }
  EXPECT_EQ(rows_.acquire(std::array{theirs}).front().status, acquire_status::granted);
}

TEST_F(MysqlFence, ThatFailsRollsBackWhateverTheIsolation) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  set_snapshot_isolation(*session, false);
  for (const auto* level : {"read committed", "repeatable read", "serializable"}) {
    *session << "set session transaction isolation level " << level;
    session->begin();
    *session << "insert into note values ('late')";
    move_version();
    EXPECT_EQ(error_of([&] { fence(*session, held); }).kind, errc::lease_lost) << level;
    session->commit();
    EXPECT_EQ(notes(), 0);
  }
}

TEST_F(MysqlFence, AtRepeatableReadSeesATakeoverAfterTheSnapshot) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  set_snapshot_isolation(*session, false);
  session->begin();
  int count = -1;
  *session << "select count(*) from shared_lock where owner is not null", ::soci::into(count);
  move_version();
  EXPECT_EQ(error_of([&] { fence(*session, held); }).kind, errc::lease_lost);
}

TEST_F(MysqlFence, WithSnapshotIsolationIsAConflictAfterATakeoverAndLostWhenRunAgain) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  const bool has_conflicts = set_snapshot_isolation(*session, true);
  int runs = 0;
  const auto caught = error_of([&] {
    (void)retry({}, [&] {
      session->begin();
      int count = -1;
      *session << "select count(*) from shared_lock where owner is not null", ::soci::into(count);
      *session << "insert into note values ('late')";
      if (++runs == 1) move_version();
      fence(*session, held);
      return commit_result::committed;
    });
  });
  EXPECT_EQ(caught.kind, errc::lease_lost);
  EXPECT_EQ(runs, has_conflicts ? 2 : 1);
  session->commit();
  EXPECT_EQ(notes(), 0);
}

// The write meets the row as it is, but a read in the same transaction sees an older state.
TEST_F(MysqlFence, AtRepeatableReadBlamesNobodyElseForARowThatItSawBeforeTheGrant) {
  create(key_);
  const auto rival = connect();
  for (const auto& key : {key_, other_key_}) {  // a row that was there before the grant, and not
    const auto session = connect();
    set_snapshot_isolation(*session, false);
    session->begin();
    int count = -1;
    *session << "select count(*) from shared_lock", ::soci::into(count);
    const lease held = acquire_lease(key);
    rival->begin();
    *rival << "update shared_lock set fence_count = 0 where source_id = '" << key.source_id << "'";
    const auto caught = error_of([&] { fence(*session, held); });
    EXPECT_EQ(caught.kind, errc::lease_lost);
    EXPECT_NE(caught.message().find("began before the grant"), std::string::npos)
        << caught.message();
    rival->rollback();
  }
}

TEST_F(MysqlFence, OfEitherKindHoldsForAllOrEndsTheTransaction) {
  for (const auto kind : {fence_kind::write, fence_kind::share}) {
    const lease kept = acquire_lease({"fence", "kept"});
    const lease lost = acquire_lease({"fence", "lost"});
    const auto session = connect();
    session->begin();
    *session << "insert into note values ('late')";
    database_.execute("update shared_lock set version = version + 1 where source_id = 'lost'");
    const auto caught = error_of([&] { fence(*session, {kept, lost}, {.kind = kind}); });
    EXPECT_EQ(caught.kind, errc::lease_lost);
    session->commit();
    EXPECT_EQ(notes(), 0);
    database_.execute("delete from shared_lock where source_id = 'lost'");
  }
}

TEST_F(MysqlFence, RunsAgainAfterAConflictOfTheWork) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  int runs = 0;
  run_fenced<soci_transaction>(*session, held, [&](soci_transaction& work) {
    work.session() << "insert into note values ('once')";
    if (++runs == 1) work.session() << "signal sqlstate '40001' set mysql_errno = 1213";
  });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(notes(), 1);
}

// As a group of MySQL reports it.
TEST_F(MysqlFence, RunsAgainAfterALostCertificationAndNotAfterAnotherFailureOfTheCommit) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  const auto runs_if_failed_by = [&](const std::string& text) {
    int runs = 0;
    try {
      run_fenced<soci_transaction>(*session, held, [&](soci_transaction& work) {
        if (++runs > 1) return;
        work.session() << "signal sqlstate 'HY000' set mysql_errno = 1180, message_text = \"" +
                              text + '"';
      });
    } catch (const std::exception&) {
      return 0;
    }
    return runs;
  };
  EXPECT_EQ(runs_if_failed_by("Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT"),
            2);
  EXPECT_EQ(runs_if_failed_by("Got error 146 - 'Lock timed out' during COMMIT"), 0);
}

TEST_F(MysqlFence, DoesNotRunAgainAfterAnotherError) {
  const lease held = acquire_lease(key_);
  const auto session = connect();
  int runs = 0;
  EXPECT_ANY_THROW(run_fenced<soci_transaction>(*session, held, [&](soci_transaction& work) {
    ++runs;
    work.session() << "signal sqlstate '45000'";
  }));
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace rowlock::tests
