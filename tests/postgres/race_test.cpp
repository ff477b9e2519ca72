// What happens between the read of a row and the write to it.
#include <atomic>
#include <memory>
#include <string>

#include "postgres/postgres_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

/// A row that looked free, or missing, and is leased by now.
class PostgresRace : public postgres_table {
 protected:
  row_state row() { return rows_.read(std::array{key_}).at(0).value(); }

  postgres_store rows_ = open_store();
  const version granted_ = acquire(rows_, key_).version.value();
};

TEST_F(PostgresRace, ALeaseThatWasRenewedMeanwhileIsNotUnset) {
  open_work preparing;
  detail::create_rows(preparing.work, key_, table());
  preparing.work.commit();
  EXPECT_TRUE(row().is_live());
  EXPECT_EQ(row().version, granted_);
}

TEST_F(PostgresRace, AFailureIsNotCountedForWhoHasTheRowMeanwhile) {
  open_work counting;
  detail::count_failures(counting.work, key_, table());
  counting.work.commit();
  EXPECT_EQ(row().failure_count, 0);
}

/// A free row that another one is just being granted.
class PostgresLostRace : public postgres_table {
 protected:
  PostgresLostRace() {
    rows_.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
    // From here on each statement is prepared, and so has one reply.
    open_work busy;
    lock_in(busy.work, other_key_);
    acquire(proxied_, other_key_);
  }

  static std::string grant(const std::string& table, const lock_key& key) {
    return "update " + table +
           " set owner = '0123456789abcdef0123456789abcdef', holder = 'theirs', "
           "version = version + 1, acquired_at = clock_timestamp(), "
           "expires_at = clock_timestamp() + interval '1 hour'" +
           row(key);
  }
  void lock_in(pqxx::work& work, const lock_key& key) const {
    work.exec("select 1 from " + name() + row(key) + " for update");
  }
  /// Runs `act` when the server has answered the statement of that number from now on.
  void at_reply(int number, std::function<void()> act) {
    network_.edit_replies([number, act = std::move(act), seen = 0](std::string reply) mutable {
      if (++seen == number) act();
      return reply;
    });
  }

  postgres_store rows_ = open_store();
  tcp_proxy network_{server_.host(), server_.port()};
  postgres_store proxied_ = open_store(url_through(network_));
};

TEST_F(PostgresLostRace, NamesTheWinnerThatCommitsAfterTheFirstLook) {
  open_work winner;
  winner.work.exec(grant(name(), key_));
  at_reply(2, [&] { winner.work.commit(); });  // the try, and the first read
  const auto lost = acquire(proxied_, key_);
  EXPECT_EQ(lost.status, acquire_status::held);
  EXPECT_EQ(lost.holder, "theirs");
}

TEST_F(PostgresLostRace, AfterANewKeyOfTheTypeWaitsForNoTransactionEither) {
  // The next try of this type begins as an insert.
  ASSERT_EQ(acquire(proxied_, {key_.type, "new"}).status, acquire_status::granted);
  open_work winner;
  winner.work.exec(grant(name(), key_));
  const auto has_waited = std::make_shared<std::atomic<bool>>(false);
  network_.edit_replies([has_waited](std::string reply) {
    if (reply.find("55P03") != std::string::npos) *has_waited = true;  // in vain
    return reply;
  });
  EXPECT_EQ(acquire(proxied_, key_).status, acquire_status::busy);
  EXPECT_FALSE(*has_waited);
}

TEST_F(PostgresLostRace, SaysBusyAndDoesNotWaitForOneThatDoesNotCommit) {
  open_work winner;
  winner.work.exec(grant(name(), key_));
  EXPECT_EQ(acquire(proxied_, key_).status, acquire_status::busy);
}

TEST_F(PostgresLostRace, IsTheSameForOneOfSeveralKeys) {
  open_work winner;
  winner.work.exec(grant(name(), key_));
  const std::array both{request(key_), request(other_key_)};
  proxied_.acquire(both);  // prepared now
  at_reply(2, [&] { winner.work.commit(); });
  const auto answers = proxied_.acquire(both);
  EXPECT_EQ(answers[0].holder, "theirs");
  EXPECT_EQ(answers[1].status, acquire_status::granted);
}

}  // namespace
}  // namespace rowlock::tests
