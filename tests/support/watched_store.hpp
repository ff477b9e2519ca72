// A store that counts refused calls, so that a test can wait for them instead of sleeping.
#ifndef ROWLOCK_TESTS_SUPPORT_WATCHED_STORE_HPP
#define ROWLOCK_TESTS_SUPPORT_WATCHED_STORE_HPP

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rowlock/port/passing_store.hpp"
#include "rowlock/port/store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

/// Passes every call on, and counts the attempts to acquire that were refused, and the reads of
/// waiters that found no free row.
class watched_store final : public passing_store {
 public:
  using passing_store::passing_store;

  /// Returns once `count` attempts and reads in all were in vain. Throws when that takes too long.
  void await_refusals(int count) {
    std::unique_lock lock{mutex_};
    if (!refused_.wait_for(lock, patience, [&] { return refusals_ >= count; })) {
      throw std::runtime_error{"no call was refused"};
    }
  }

  [[nodiscard]] int refusals() {
    const std::scoped_lock lock{mutex_};
    return refusals_;
  }

  /// The owner of the last attempt to acquire.
  [[nodiscard]] owner_id last_owner() {
    const std::scoped_lock lock{mutex_};
    return last_owner_;
  }

  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    auto answers = passing_store::do_acquire(requests, mode);
    if (mode.how != acquire_mode::each) return answers;
    const std::scoped_lock lock{mutex_};
    last_owner_ = requests.back().owner;
    for (const auto& answer : answers) {
      if (answer.status != acquire_status::granted) ++refusals_;
    }
    refused_.notify_all();
    return answers;
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> read_keys,
                                                read_mode mode) override {
    auto states = passing_store::do_read(read_keys, mode);
    if (mode != read_mode::watched) return states;
    const std::scoped_lock lock{mutex_};
    for (const auto& state : states) {
      if (state && state->is_live()) ++refusals_;
    }
    refused_.notify_all();
    return states;
  }

 private:
  std::mutex mutex_;
  std::condition_variable refused_;
  int refusals_ = 0;     // guarded by mutex_
  owner_id last_owner_;  // guarded by mutex_
};

}  // namespace rowlock::tests

#endif
