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
