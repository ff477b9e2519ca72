// A store of which a test replaces one call by a weakened form.
#ifndef ROWLOCK_TESTS_FAULTS_WEAKENED_STORE_HPP
#define ROWLOCK_TESTS_FAULTS_WEAKENED_STORE_HPP

#include <functional>
#include <utility>
#include <vector>

#include "rowlock/store.hpp"

namespace rowlock::tests {

/// Passes every call on, but for those that are set.
class weakened_store final : public store {
 public:
  struct weaknesses {
    std::function<acquire_answer(const acquire_request&)> acquire = nullptr;
    std::function<release_answer(const release_request&)> release = nullptr;
  };

  weakened_store(store& sound, weaknesses weak) : sound_{sound}, weak_{std::move(weak)} {}

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override {
    return weak_.acquire ? each<acquire_answer>(requests, weak_.acquire) : sound_.acquire(requests);
  }
  std::vector<renew_answer> renew(std::span<const renew_request> requests) override {
    return sound_.renew(requests);
  }
  std::vector<release_answer> release(std::span<const release_request> requests) override {
    return weak_.release ? each<release_answer>(requests, weak_.release) : sound_.release(requests);
  }
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override {
    return sound_.read(keys);
  }
  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override {
    return sound_.prepare(keys);
  }
  std::vector<row_state> list() override { return sound_.list(); }

 private:
  template <class Answer, class Request, class Call>
  static std::vector<Answer> each(std::span<const Request> requests, const Call& call) {
    std::vector<Answer> answers;
    for (const auto& request : requests) answers.push_back(call(request));
    return answers;
  }

  store& sound_;
  weaknesses weak_;
};

}  // namespace rowlock::tests

#endif
