// A store of which a test replaces one call by a weakened form.
#ifndef ROWLOCK_TESTS_FAULTS_WEAKENED_STORE_HPP
#define ROWLOCK_TESTS_FAULTS_WEAKENED_STORE_HPP

#include <functional>
#include <utility>
#include <vector>

#include "rowlock/port/passing_store.hpp"

namespace rowlock::tests {

/// Passes every call on, but for those that are set.
class weakened_store final : public passing_store {
 public:
  struct weaknesses {
    std::function<acquire_answer(const acquire_request&)> acquire = nullptr;
    std::function<change_answer(const release_request&)> release = nullptr;
  };

  weakened_store(store& sound, weaknesses weak) : passing_store{sound}, weak_{std::move(weak)} {}

  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    return weak_.acquire ? each<acquire_answer>(requests, weak_.acquire)
                         : passing_store::do_acquire(requests, mode);
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    return weak_.release ? each<change_answer>(requests, weak_.release)
                         : passing_store::do_release(requests);
  }

 private:
  template <class Answer, class Request, class Call>
  static std::vector<Answer> each(std::span<const Request> requests, const Call& call) {
    std::vector<Answer> answers;
    for (const auto& request : requests) answers.push_back(call(request));
    return answers;
  }

  weaknesses weak_;
};

}  // namespace rowlock::tests

#endif
