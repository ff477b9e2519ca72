// Tells the listeners of one process about releases.
#ifndef ROWLOCK_TESTING_RELEASE_HINTS_HPP
#define ROWLOCK_TESTING_RELEASE_HINTS_HPP

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// Thread-safety: all members may be called from any thread. A listener is told under the mutex, so
/// that it is told of nothing after its subscription has ended. It must outlive its subscriptions.
class release_hints {
 public:
  std::unique_ptr<subscription> listen(release_listener& listener) {
    {
      const std::scoped_lock lock{mutex_};
      listeners_.insert(&listener);
    }
    return std::make_unique<entry>(*this, listener);
  }

  void announce(const std::vector<lock_key>& released) {
    const std::scoped_lock lock{mutex_};
    for (auto* listener : listeners_) {
      for (const auto& key : released) listener->released(key);
    }
  }

 private:
  class entry final : public subscription {
   public:
    entry(release_hints& from, release_listener& listener) : from_{from}, listener_{listener} {}
    ~entry() override {
      const std::scoped_lock lock{from_.mutex_};
      from_.listeners_.erase(&listener_);
    }

   private:
    release_hints& from_;
    release_listener& listener_;
  };

  std::mutex mutex_;
  std::set<release_listener*> listeners_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
