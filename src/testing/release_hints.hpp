// Notifications of releases within one process.
#ifndef ROWLOCK_TESTING_RELEASE_HINTS_HPP
#define ROWLOCK_TESTING_RELEASE_HINTS_HPP

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// Listeners are notified under the mutex, so none is notified after its subscription has ended.
/// This object must outlive the subscriptions.
///
/// Thread-safety: all members may be called from any thread.
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
