// Several requests in one call.
#include <vector>

#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Batch : public store_test {
 protected:
  static acquire_request request_for(const lock_key& key, const owner_id& owner,
                                     std::optional<version> expected = {}) {
    return {.key = key, .owner = owner, .holder = "host:1", .ttl = 1h, .expected = expected};
  }
};

TEST_P(Batch, OfNothingIsAnsweredByNothing) {
  EXPECT_TRUE(rows_->acquire({}).empty());
  EXPECT_TRUE(rows_->renew({}).empty());
  EXPECT_TRUE(rows_->release({}).empty());
  EXPECT_TRUE(rows_->read({}).empty());
  EXPECT_TRUE(rows_->read({}, read_mode::ready_to_commit).empty());
}

TEST_P(Batch, OfAcquiresIsAnsweredInItsOrderEachByTheStateOfItsRow) {
  const auto key = [](const char* id) { return lock_key{"invoice", id}; };
  granted(key("held"), theirs_, 2h);
  const auto mine = granted(key("mine"), mine_, 2h);
  const auto seen = unowned(key("at version"));
  unowned(key("stale"));
  unowned(key("free"));
  run_out(key("run out"), theirs_);

  const auto answers = rows_->acquire(
      std::vector{request_for(key("missing"), mine_), request_for(key("held"), mine_),
                  request_for(key("free"), mine_), request_for(key("stale"), mine_, version{1}),
                  request_for(key("mine"), mine_), request_for(key("run out"), mine_),
                  request_for(key("at version"), mine_, seen),
                  request_for(key("missing too"), mine_, version{1})});

  ASSERT_EQ(answers.size(), 8U);
  EXPECT_EQ(answers[0].status, acquire_status::granted);
  EXPECT_EQ(answers[1].status, acquire_status::held);
  EXPECT_EQ(answers[2].status, acquire_status::granted);
  EXPECT_EQ(answers[3].status, acquire_status::stale);
  EXPECT_EQ(answers[4].status, acquire_status::granted);
  EXPECT_EQ(answers[5].status, acquire_status::granted);
  EXPECT_EQ(answers[6].status, acquire_status::granted);
  EXPECT_EQ(answers[7].status, acquire_status::stale);
  EXPECT_EQ(answers[0].version, row(key("missing")).version);
  EXPECT_EQ(answers[1].holder, "host:1");
  EXPECT_EQ(answers[2].version, row(key("free")).version);
  EXPECT_EQ(answers[4].version, mine);
  EXPECT_EQ(answers[5].version, row(key("run out")).version);
  EXPECT_EQ(row(key("run out")).expiry_count, 1);
  EXPECT_EQ(answers[6].version, row(key("at version")).version);
  EXPECT_FALSE(row(key("stale")).owned);
  EXPECT_FALSE(read(key("missing too")));
}

TEST_P(Batch, GivesEachKeyTheOwnerHolderAndTtlOfItsOwnRequest) {
  std::vector requests{request_for(key_, mine_), request_for(other_key_, theirs_)};
  requests[0].ttl = 3h;
  requests[1].holder = "host:2";
  const auto answers = rows_->acquire(requests);
  EXPECT_GT(row(key_).remaining, 2h);
  EXPECT_LE(row(other_key_).remaining, 1h);
  EXPECT_EQ(row(key_).holder, "host:1");
  EXPECT_EQ(row(other_key_).holder, "host:2");
  EXPECT_EQ(renew(key_, mine_, answers.at(0).version.value()), change_answer::done);
  EXPECT_EQ(renew(other_key_, theirs_, answers.at(1).version.value()), change_answer::done);
}

TEST_P(Batch, GrantsOneKeyToOneOfTwoRequestsWhateverItsState) {
  for (const auto* state : {"missing", "unowned", "run out"}) {
    const lock_key key{"invoice", state};
    if (key.source_id == "unowned") unowned(key);
    if (key.source_id == "run out") run_out(key, make_owner_id());
    const auto answers =
        rows_->acquire(std::vector{request_for(key, mine_), request_for(key, theirs_)});
    const bool is_mine = answers.at(0).status == acquire_status::granted;
    const bool is_theirs = answers.at(1).status == acquire_status::granted;
    EXPECT_NE(is_mine, is_theirs) << state;
    const auto& winner = answers.at(is_mine ? 0 : 1);
    EXPECT_EQ(winner.version, row(key).version) << state;
    EXPECT_EQ(renew(key, is_mine ? mine_ : theirs_, winner.version.value()), change_answer::done)
        << state;
  }
}

TEST_P(Batch, GrantsOneVersionToOneOfTwoRequests) {
  const auto seen = unowned(key_);
  const auto answers =
      rows_->acquire(std::vector{request_for(key_, mine_, seen), request_for(key_, theirs_, seen)});
  EXPECT_NE(answers.at(0).status == acquire_status::granted,
            answers.at(1).status == acquire_status::granted);
}

TEST_P(Batch, AdoptsTheOwnersGrantBesideARivalsRequest) {
  const auto my_version = granted(key_, mine_);
  const auto answers =
      rows_->acquire(std::vector{request_for(key_, theirs_), request_for(key_, mine_)});
  EXPECT_EQ(answers.at(0).status, acquire_status::held);
  EXPECT_EQ(answers.at(1).status, acquire_status::granted);
  EXPECT_EQ(answers.at(1).version, my_version);
}

TEST_P(Batch, OfRenewalsIsAnsweredInItsOrderEachByTheStateOfItsRow) {
  const lock_key missing{"invoice", "44"};
  const auto mine = granted(key_, mine_, 1h);
  const auto theirs = granted(other_key_, theirs_, 1h);
  const auto answers = rows_->renew(std::vector<renew_request>{
      {missing, mine_, mine, 3h}, {key_, mine_, mine, 3h}, {other_key_, mine_, theirs, 3h}});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0], change_answer::lost);
  EXPECT_EQ(answers[1], change_answer::done);
  EXPECT_EQ(answers[2], change_answer::lost);
  EXPECT_GT(row(key_).remaining, 2h);
  EXPECT_LE(row(other_key_).remaining, 1h);
}

TEST_P(Batch, OfReleasesIsAnsweredInItsOrderEachByTheStateOfItsRow) {
  const lock_key failed{"invoice", "41"};
  const auto mine = granted(key_, mine_);
  const auto theirs = granted(other_key_, theirs_);
  const auto failing = granted(failed, mine_);
  const auto answers = rows_->release(std::vector<release_request>{
      {key_, mine_, mine}, {other_key_, mine_, theirs}, {failed, mine_, failing, true}});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0], change_answer::done);
  EXPECT_EQ(answers[1], change_answer::lost);
  EXPECT_EQ(answers[2], change_answer::done);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_TRUE(row(other_key_).is_live());
  EXPECT_EQ(row(key_).failure_count, 0);
  EXPECT_EQ(row(failed).failure_count, 1);
}

TEST_P(Batch, OfRenewalsAndReleasesLeavesARowAloneThatHasAnotherVersion) {
  const auto mine = granted(key_, mine_, 1h);
  const auto others = granted(other_key_, mine_, 1h);
  const auto renewed = rows_->renew(std::vector<renew_request>{
      {key_, mine_, {mine.number + 1}, 3h}, {other_key_, mine_, {others.number + 1}, 3h}});
  EXPECT_EQ(renewed, (std::vector{change_answer::lost, change_answer::lost}));
  const auto released = rows_->release(std::vector<release_request>{
      {key_, mine_, {mine.number + 1}}, {other_key_, mine_, {others.number + 1}}});
  EXPECT_EQ(released, (std::vector{change_answer::lost, change_answer::lost}));
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_TRUE(row(other_key_).is_live());
}

TEST_P(Batch, MayBeLarge) {
  std::vector<lock_key> keys;
  std::vector<acquire_request> acquires;
  for (int number = 299; number >= 0; --number) {
    keys.push_back({"invoice", std::to_string(number)});
    acquires.push_back(request_for(keys.back(), make_owner_id()));
  }
  std::vector<renew_request> renewals;
  std::vector<release_request> releases;
  const auto answers = rows_->acquire(acquires);
  ASSERT_EQ(answers.size(), keys.size());
  const auto states = rows_->read(keys);
  for (std::size_t at = 0; at < keys.size(); ++at) {
    ASSERT_EQ(answers[at].status, acquire_status::granted);
    EXPECT_EQ(states.at(at).value().version, answers[at].version);
    EXPECT_EQ(states[at]->key, keys[at]);
    renewals.push_back({keys[at], acquires[at].owner, *answers[at].version, 1h});
    releases.push_back({keys[at], acquires[at].owner, *answers[at].version});
  }
  EXPECT_EQ(rows_->renew(renewals), std::vector(300, change_answer::done));
  EXPECT_EQ(rows_->list().size(), 300U);
  EXPECT_EQ(rows_->release(releases), std::vector(300, change_answer::done));
  EXPECT_TRUE(rows_->list().empty());
  EXPECT_EQ(rows_->read(keys, read_mode::ready_to_commit).size(), 300U);
}

INSTANTIATE_TEST_SUITE_P(Stores, Batch, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
