// Each statement that proves leases on PostgreSQL: one lease has others than several, than a
// release that leaves a mark, and than a transaction that is to be named.
#include <functional>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

class PostgresProof : public postgres_table, public testing::WithParamInterface<int> {
 protected:
  using after_proof = std::function<void(pqxx::work&)>;
  /// Proves the leases in a transaction, calls, and commits.
  using proof = std::function<void(const std::vector<lease>&, const after_proof&)>;

  std::vector<proof> proofs() {
    const auto by = [this](auto prove) -> proof {
      return [this, prove](const std::vector<lease>& held, const after_proof& call) {
        pqxx::work work{connection_};
        prove(work, held);
        call(work);
        work.commit();
      };
    };
    const auto by_named = [this](fence_kind kind) -> proof {
      const fenced_run_options options{
          .fence = {.kind = kind}, .fence_first = true, .in_doubt = [](const std::string&) {
            return commit_fate::unknown;
          }};
      return [this, options](const std::vector<lease>& held, const after_proof& call) {
        run_fenced<pqxx::work>(connection_, held, call, options, table());
      };
    };
    return {by([this](auto& work, auto& held) { fence(work, held, {}, table()); }),
            by([this](auto& work, auto& held) {
              fence(work, held, {.kind = fence_kind::share}, table());
            }),
            by([this](auto& work, auto& held) { release_with(work, held, {}, table()); }),
            by([this](auto& work, auto& held) {
              release_with(work, held, {.done_for = 1ms}, table());
            }),
            by_named(fence_kind::write),
            by_named(fence_kind::share)};
  }

  std::vector<lease> acquire_leases() {
    std::vector<lease> held;
    for (const auto& key : keys()) held.push_back(*locks_.try_acquire(key));
    return held;
  }
  [[nodiscard]] std::vector<lock_key> keys() const {
    std::vector keys{key_, other_key_};
    keys.resize(GetParam(), key_);
    return keys;
  }

  errc refusal_of(const proof& prove, const std::vector<lease>& held) {
    return error_of(
               [&] { prove(held, [](pqxx::work&) { ADD_FAILURE() << "it was not refused"; }); })
        .kind;
  }

  postgres_store rows_{postgres_url(), {.table = table()}};
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  // So that a statement that waits for another transaction fails.
  pqxx::connection connection_{url_with("options=-clock_timeout%3D5s")};
};

INSTANTIATE_TEST_SUITE_P(Leases, PostgresProof, testing::Values(1, 2));

TEST_P(PostgresProof, OfLeasesThatAreHeldLimitsTheIdleTime) {
  for (const auto& prove : proofs()) {
    const auto held = acquire_leases();
    std::string limit;
    prove(held, [&](pqxx::work& work) {
      limit = work.exec("show idle_in_transaction_session_timeout")[0][0].as<std::string>();
    });
    EXPECT_EQ(limit, "10s");
  }
}

TEST_P(PostgresProof, OfALeaseThatWasTakenOverIsRefused) {
  for (const auto& prove : proofs()) {
    const auto held = acquire_leases();
    const auto& lost = held.back();
    server_.query("update " + name() + " set expires_at = 'epoch'" + row(lost.key()));
    const auto theirs = acquire(rows_, lost.key());
    ASSERT_EQ(theirs.status, acquire_status::granted);
    EXPECT_EQ(refusal_of(prove, held), errc::lease_lost);
    EXPECT_FALSE(lost.is_valid());
    EXPECT_EQ(release(rows_, lost.key(), *theirs.version), change_answer::done);
  }
}

// Its version is still the lease's: the library moves it whenever it unsets a row, a person may
// not.
TEST_P(PostgresProof, OfARowThatWasUnsetByHandIsRefused) {
  for (const auto& prove : proofs()) {
    const auto held = acquire_leases();
    server_.query("update " + name() + " set owner = null, expires_at = 'epoch'" +
                  row(held.back().key()));
    EXPECT_EQ(refusal_of(prove, held), errc::lease_lost);
  }
}

TEST_P(PostgresProof, OfARowThatAnotherTransactionHasIsRefused) {
  for (const auto& prove : proofs()) {
    const auto held = acquire_leases();
    open_work user;
    user.work.exec("select from " + name() + row(held.back().key()) + " for no key update");
    EXPECT_EQ(refusal_of(prove, held), errc::lease_lost);
    EXPECT_TRUE(held.back().is_valid());
  }
}

}  // namespace
}  // namespace rowlock::tests
