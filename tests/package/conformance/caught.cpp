// Stores with a mistake each.
#include <map>
#include <mutex>
#include <rowlock/port/passing_store.hpp>

#include "own_bench.hpp"

namespace {

using namespace rowlock;

/// Shows rows, once they are released, at the version at which they were granted.
class release_moves_no_version final : public passing_store {
 public:
  using passing_store::passing_store;

 protected:
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    {
      const std::scoped_lock lock{mutex_};
      for (const auto& request : requests) released_[request.key] = request.version;
    }
    return passing_store::do_release(requests);
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    auto states = passing_store::do_read(keys, mode);
    const std::scoped_lock lock{mutex_};
    for (auto& state : states) {
      if (state && !state->owned && released_.contains(state->key)) {
        state->version = released_[state->key];
      }
    }
    return states;
  }

 private:
  std::mutex mutex_;
  std::map<lock_key, version> released_;  // guarded by mutex_
};

class renewal_of_what_is_lost final : public passing_store {
 public:
  using passing_store::passing_store;

 protected:
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    auto answers = passing_store::do_renew(requests);
    for (auto& answer : answers) {
      if (answer == change_answer::lost) answer = change_answer::done;
    }
    return answers;
  }
};

class any_version_is_expected final : public passing_store {
 public:
  using passing_store::passing_store;

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    std::vector<acquire_request> unconditional(requests.begin(), requests.end());
    for (auto& request : unconditional) request.expected.reset();
    return passing_store::do_acquire(unconditional, mode);
  }
};

template <class Store>
conformance::bench_kind mistaken(const std::string& name) {
  return {.name = name, .make = [] { return std::make_unique<own_bench<Store>>(); }};
}

}  // namespace

std::vector<conformance::bench_kind> conformance::every_store() {
  return {mistaken<release_moves_no_version>("release_moves_no_version"),
          mistaken<renewal_of_what_is_lost>("renewal_of_what_is_lost"),
          mistaken<any_version_is_expected>("any_version_is_expected")};
}
