// Sets of keys of which a database grants some, against the rules of a store.
#include <array>
#include <string>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/passing_store.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

/// Grants the first key of a set, and says nothing of the others.
class halving_store final : public passing_store {
 public:
  using passing_store::passing_store;

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode /*mode*/) override {
    auto answers = passing_store::do_acquire(requests.first(1), {});
    answers.resize(requests.size(), {.status = acquire_status::withheld});
    return answers;
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    if (!is_in_use) return passing_store::do_release(requests);
    return std::vector(requests.size(), change_answer::busy);
  }

 public:
  /// Another transaction has each row that is to be released.
  bool is_in_use = false;
};

class PartOfASet : public lease_state_test {
 protected:
  halving_store half_{rows_};
  lock_table halves_{half_, {.ttl = 1h, .time = time_}};
  const std::vector<lock_key> keys_{{"job", "a"}, {"job", "b"}};
};

TEST_F(PartOfASet, RunsNoCallbackAndIsGivenBack) {
  const auto caught = error_of([&] {
    (void)halves_.with_lock_all(keys_, [](const lease_set& /*held*/) { ADD_FAILURE() << "ran"; });
  });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("of 2 keys that belong together only 1"), std::string::npos)
      << caught.message();
  EXPECT_TRUE(is_free("a"));
}

TEST_F(PartOfASet, ThatCannotBeGivenBackIsSaidToRunOut) {
  const auto caught = error_of([&] { (void)halves_.try_acquire_all(keys_); });
  EXPECT_NE(caught.message().find("have been released"), std::string::npos) << caught.message();
  half_.is_in_use = true;
  const auto kept = error_of([&] { (void)halves_.try_acquire_all(keys_); });
  EXPECT_EQ(kept.kind, errc::rejected);
  EXPECT_NE(kept.message().find("those not yet released run out"), std::string::npos)
      << kept.message();
}

TEST_F(PartOfASet, IsWhatAnyOfThemMeans) {
  const auto owner = make_owner_id();
  const std::array requests{acquire_request{keys_[0], owner, "host:1", 1h},
                            acquire_request{keys_[1], owner, "host:1", 1h}};
  const auto answers = half_.acquire(requests, {acquire_mode::any, 2});
  EXPECT_EQ(answers[0].status, acquire_status::granted);
  EXPECT_EQ(answers[1].status, acquire_status::withheld);
}

}  // namespace
}  // namespace rowlock::tests
