// A store that passes every call on, for those that watch some of them.
#ifndef ROWLOCK_TESTS_SUPPORT_PASSING_STORE_HPP
#define ROWLOCK_TESTS_SUPPORT_PASSING_STORE_HPP

#include <memory>
#include <string>
#include <vector>

#include "rowlock/store.hpp"

namespace rowlock::tests {

class passing_store : public store {
 public:
  explicit passing_store(store& asked) : asked_{asked} {}

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override {
    return asked_.acquire(requests);
  }
  std::vector<renew_answer> renew(std::span<const renew_request> requests) override {
    return asked_.renew(requests);
  }
  std::vector<release_answer> release(std::span<const release_request> requests) override {
    return asked_.release(requests);
  }
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override {
    return asked_.read(keys);
  }
  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override {
    return asked_.prepare(keys);
  }
  std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys) override {
    return asked_.watch(keys);
  }
  std::unique_ptr<subscription> listen(release_listener& listener) override {
    return asked_.listen(listener);
  }
  std::vector<row_state> list() override { return asked_.list(); }
  std::vector<std::string> weak_settings() override { return asked_.weak_settings(); }

 private:
  store& asked_;
};

}  // namespace rowlock::tests

#endif
