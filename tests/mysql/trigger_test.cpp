// A trigger of the lock table: it may raise any error, with any text, and hides the insert id.
#include "mysql/mysql_table.hpp"
#include "support/recording_observer.hpp"

namespace rowlock::tests {
namespace {

class MysqlTrigger : public mysql_test {
 protected:
  MysqlTrigger() {
    create(key_);
    database_.execute(
        "create table raised (number int); insert into raised values (0);"
        "create table seen (id varbinary(255));"
        "create trigger seeing before insert on shared_lock for each row "
        "  insert into seen values (new.source_id);"
        "create trigger raising before update on shared_lock for each row begin "
        "  declare number int; declare said text;"
        "  select max(raised.number) into number from raised;"
        "  set said = concat('for ', new.source_id, ', owner ', coalesce(new.owner, old.owner, "
        "'none'));"
        "  if number > 0 then "
        "    signal sqlstate '45000' set mysql_errno = number, message_text = said;"
        "  end if;"
        "end");
  }

  void raise(unsigned number) {
    database_.execute("update raised set number = " + std::to_string(number));
  }

  const lock_key key_{.type = "invoice", .source_id = "sesame"};
};

TEST_F(MysqlTrigger, RaisesWhatComesAgainAndIsRejectedOrWhatMayPassAndIsUnavailable) {
  const auto expect = [&](errc kind, std::initializer_list<unsigned> numbers) {
    for (const unsigned number : numbers) {
      raise(number);
      const auto caught = error_of([&] { acquire(rows_, key_); });
      EXPECT_EQ(caught.kind, kind) << number << ": " << caught.message();
      EXPECT_NE(caught.message().find(':'), std::string::npos) << caught.message();  // what to do
    }
  };
  expect(errc::rejected, {1054, 1064, 1146, 1193, 1235, 1267, 1271, 1305, 1364, 1419, 1442,
                          1449, 1644, 1665, 1690, 3098, 3569, 3812, 3820, 4078, 30000});
  expect(errc::misuse, {1048, 1264, 1366, 1406, 4025});
  expect(errc::unavailable, {1021, 1030, 1037, 1041, 1105, 1114, 1135, 1206, 1226, 1290, 1317, 1412,
                             1615, 1637, 1836, 1969, 3024, 3100});
  raise(0);
  EXPECT_EQ(acquire(rows_, key_).status, acquire_status::granted);
}

// From the second grant on the session sends the grant with a read in one block, and may be
// interrupted between the two.
TEST_F(MysqlTrigger, ThatHidesTheInsertIdLeavesAnInterruptedGrantInDoubtAndNoOther) {
  const auto granted = acquire(rows_, key_);
  ASSERT_EQ(release(rows_, key_, *granted.version), change_answer::done);
  const auto kind_after = [&](unsigned number) {
    raise(number);
    return error_of([&] { acquire(rows_, key_); }).kind;
  };
  EXPECT_EQ(kind_after(1317), errc::outcome_unknown);
  EXPECT_EQ(kind_after(1969), errc::outcome_unknown);
  EXPECT_EQ(kind_after(1021), errc::unavailable);
  EXPECT_EQ(kind_after(1644), errc::rejected);
}

TEST_F(MysqlTrigger, RaisesATextThatNobodyIsShown) {
  const auto events = std::make_shared<recording_observer>();
  {
    lock_table locks{rows_, {.observer = events}};
    for (const unsigned number : {1644U, 1690U, 1292U, 1030U, 4025U, 30000U}) {
      raise(number);
      const auto caught = error_of([&] { (void)locks.try_acquire(key_); });
      EXPECT_EQ(caught.messages.size(), 2U) << number;
      for (const auto& message : caught.messages) {
        EXPECT_EQ(message.find("sesame"), std::string::npos) << message;
        EXPECT_EQ(message.find("owner"), std::string::npos) << message;
      }
    }
    raise(0);
    auto held = std::move(*locks.try_acquire(key_));
    raise(1644);
    EXPECT_EQ(held.release(), release_result::deferred);
    raise(0);
  }
  // One more for each time that the release was tried again.
  EXPECT_GE(events->count<fault_event>(), 7U);
  for (const auto& each : events->events()) {
    const auto* fault = std::get_if<fault_event>(&each);
    if (fault == nullptr) continue;
    EXPECT_EQ(fault->text.find("sesame"), std::string::npos) << fault->text;
    EXPECT_EQ(fault->text.find("owner"), std::string::npos) << fault->text;
  }
}

// 1062 of a statement that inserts no lock is not that of a key which another caller creates.
TEST_F(MysqlTrigger, WhoseOwnStatementFindsADuplicateIsNoContention) {
  const auto granted = acquire(rows_, key_);
  raise(1062);
  EXPECT_EQ(error_of([&] { renew(rows_, key_, *granted.version); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { release(rows_, key_, *granted.version); }).kind, errc::misuse);
  create(other_key_);
  EXPECT_EQ(error_of([&] { acquire(rows_, other_key_); }).kind, errc::misuse);
  const auto session = connect();
  soci_transaction work{*session};
  const auto caught = error_of([&] { (void)lock_rows(work, other_key_, no_wait()); });
  EXPECT_EQ(caught.kind, errc::misuse) << caught.message();
}

TEST_F(MysqlTrigger, RaisesAnErrorThatLeavesNoRowBeforeItLocked) {
  create(other_key_);
  database_.execute(
      "create trigger refusing before update on shared_lock for each row begin "
      "  if new.source_id = 'sesame' then signal sqlstate '45000'; end if; end");
  const auto session = connect();
  soci_transaction work{*session};
  EXPECT_EQ(error_of([&] {
              (void)lock_rows(work, {other_key_, key_}, no_wait());
            }).kind,
            errc::rejected);
  const auto granted = acquire(rows_, other_key_);
  ASSERT_EQ(granted.status, acquire_status::granted);
  work.commit();
  EXPECT_EQ(renew(rows_, other_key_, *granted.version), change_answer::done);
}

TEST_F(MysqlTrigger, WithStatementsOfItsOwnHidesNoVersion) {
  const auto in_the_table = [this](const lock_key& key) {
    return version{
        number("select version from shared_lock where source_id = '" + key.source_id + "'")};
  };
  for (const auto& key : {key_, other_key_}) {  // one that is there, and one that is made
    const auto granted = acquire(rows_, key);
    EXPECT_EQ(granted.version, in_the_table(key));
    EXPECT_EQ(release(rows_, key, *granted.version), change_answer::done);
  }
  const lock_key made{.type = "invoice", .source_id = "46"};
  for (const auto how : {acquire_mode::all_or_none, acquire_mode::any}) {
    const std::vector<acquire_request> set{request(key_), request(other_key_), request(made)};
    const auto granted = rows_.acquire(set, {.how = how, .limit = set.size()});
    for (std::size_t i = 0; i < set.size(); ++i) {
      EXPECT_EQ(granted[i].version, in_the_table(set[i].key)) << how;
      EXPECT_EQ(release(rows_, set[i].key, *granted[i].version), change_answer::done) << how;
    }
  }
  const lock_key third{.type = "invoice", .source_id = "44"};
  for (const auto& key : {key_, third}) {
    const auto session = connect();
    soci_transaction work{*session};
    const auto locked = lock_rows(work, key, no_wait());
    work.commit();
    EXPECT_EQ(locked->rows.front().version, in_the_table(key));
  }
  const lock_key fourth{.type = "invoice", .source_id = "45"};
  const auto session = connect();
  soci_transaction work{*session};
  const auto read = *read_version(*session, fourth);
  work.commit();
  EXPECT_EQ(read, in_the_table(fourth));
}

}  // namespace
}  // namespace rowlock::tests
