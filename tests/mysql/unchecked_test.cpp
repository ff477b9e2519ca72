// Exclusion on a table that has lost its CHECKs, on MariaDB: ALTER TABLE ... MODIFY drops that of a
// column without a word, and a setting of the session turns all of them off.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "mysql/mysql_table.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class unchecked_test : public mysql_test {
 protected:
  unchecked_test() { pool_.at(0).open(target_at(proxy_.port())); }

  void drop_check() const {
    database_.execute("alter table shared_lock modify version bigint not null comment 'x'");
  }
  void turn_checks_off() { pool_.at(0) << "set check_constraint_checks = off"; }

  /// What `call` answers on a store where `rival` comes between its first statement and the answer.
  auto overtaken(const auto& call, const auto& rival) {
    soci_store rows{pool_, {.pool_size = 1}};
    // The session is open, the table checked, and the statement that reads rows prepared.
    for (int i = 0; i < 2; ++i) (void)rows.read(std::array{key_});
    proxy_.edit_replies([&, is_first = true](const std::string& said) mutable {
      if (std::exchange(is_first, false)) rival();
      return said;
    });
    auto answers = call(rows);
    proxy_.edit_replies([](const std::string& said) { return said; });
    return answers;
  }
  acquire_answer take_by_others(const lock_key& key) {
    return rows_
        .acquire(std::array{
            acquire_request{.key = key, .owner = theirs_, .holder = "host:2", .ttl = 1h}})
        .front();
  }
  /// Of a lease that others have.
  change_answer renew_by_others(const lock_key& key, version granted) {
    return rows_.renew(std::array{renew_request{key, theirs_, granted, 1h}}).front();
  }

  tcp_proxy proxy_{"127.0.0.1", server_port()};
  ::soci::connection_pool pool_{1};
  const owner_id theirs_ = make_owner_id();
};

enum class row { missing, unowned, run_out };
enum class check { dropped, off };

class MysqlUncheckedSet : public unchecked_test,
                          public testing::WithParamInterface<std::pair<row, check>> {
 protected:
  void prepare_rows() {
    if (GetParam().first == row::missing) return;
    rows_.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
    if (GetParam().first == row::unowned) return;
    acquire(rows_, other_key_);
    run_out(other_key_);
  }
};

TEST_P(MysqlUncheckedSet, IsRefusedWhereItOverlapsOneThatWasFaster) {
  prepare_rows();
  if (GetParam().second == check::dropped) {
    drop_check();
  } else {
    turn_checks_off();
  }
  const lock_key third{.type = "invoice", .source_id = "44"};
  std::vector<acquire_answer> first;
  const auto second = overtaken(
      [&](store& rows) {
        return rows.acquire(std::array{request(key_), request(other_key_)},
                            {acquire_mode::all_or_none});
      },
      [&] {
        std::array wanted{request(other_key_), request(third)};
        for (auto& each : wanted) each.owner = theirs_;
        first = rows_.acquire(wanted, {acquire_mode::all_or_none});
      });
  ASSERT_EQ(first.size(), 2U);
  for (const auto& answer : first) ASSERT_EQ(answer.status, acquire_status::granted);
  EXPECT_EQ(second[0].status, acquire_status::withheld);
  EXPECT_EQ(second[1].status, acquire_status::held);
  EXPECT_EQ(renew_by_others(other_key_, *first[0].version), change_answer::done);
  EXPECT_EQ(number("select count(*) from shared_lock where owner = '" + mine_.text + "'"), 0);
}

INSTANTIATE_TEST_SUITE_P(Rows, MysqlUncheckedSet,
                         testing::Values(std::pair{row::missing, check::dropped},
                                         std::pair{row::unowned, check::dropped},
                                         std::pair{row::run_out, check::dropped},
                                         std::pair{row::missing, check::off},
                                         std::pair{row::unowned, check::off},
                                         std::pair{row::run_out, check::off}));

class MysqlUnchecked : public unchecked_test {
 protected:
  MysqlUnchecked() {
    drop_check();
    turn_checks_off();
  }

  /// Sees that of `key_`, which was free, and `other_key_`, which others were faster to have.
  void expect_one_each(const auto& call) {
    rows_.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
    acquire_answer faster;
    const auto answers = overtaken(call, [&] { faster = take_by_others(other_key_); });
    ASSERT_EQ(faster.status, acquire_status::granted);
    EXPECT_EQ(answers.at(0).status, acquire_status::granted);
    EXPECT_NE(answers.at(1).status, acquire_status::granted);
    EXPECT_EQ(renew_by_others(other_key_, *faster.version), change_answer::done);
    EXPECT_EQ(renew(rows_, key_, *answers.at(0).version), change_answer::done);
  }
};

TEST_F(MysqlUnchecked, SeveralKeysAreGrantedWhereNobodyWasFaster) {
  expect_one_each([&](store& rows) {
    return rows.acquire(std::array{request(key_), request(other_key_)});
  });
}

TEST_F(MysqlUnchecked, AnyOfASetIsGrantedWhereNobodyWasFaster) {
  expect_one_each([&](store& rows) {
    return rows.acquire(std::array{request(key_), request(other_key_)}, {acquire_mode::any, 2});
  });
}

TEST_F(MysqlUnchecked, AHandOverOfALeaseThatWasTakenAwayIsNone) {
  const auto granted = *acquire(rows_, key_).version;
  soci_store rows{pool_, {.pool_size = 1}};
  ASSERT_EQ(rows_.force_release({key_, granted, "a test"}), force_answer::released);
  const auto faster = take_by_others(key_);
  const auto answer = rows.handoff(
      {.ended = {.key = key_, .owner = mine_, .version = granted},
       .next = {.key = key_, .owner = make_owner_id(), .holder = "host:3", .ttl = 1h}});
  EXPECT_EQ(answer.ended, change_answer::lost);
  EXPECT_FALSE(answer.granted);
  EXPECT_EQ(renew_by_others(key_, *faster.version), change_answer::done);
}

}  // namespace
}  // namespace rowlock::tests
