// A few connections, shared by all threads of a store.
#ifndef ROWLOCK_CORE_CONNECTION_POOL_HPP
#define ROWLOCK_CORE_CONNECTION_POOL_HPP

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::detail {

enum class connection_use { anything, keeping_leases };

/// Opens connections when they are needed, keeps them, and replaces those that the server closed
/// meanwhile (`Connection::is_alive`).
///
/// Of two or more, the last one is kept for calls that keep leases alive or end them, so that calls
/// for new ones, however many wait, cannot make held ones run out.
///
/// Thread-safety: all members may be called from any thread. It must outlive its loans.
template <class Connection>
class connection_pool {
 public:
  using purpose = connection_use;
  using open = std::function<std::unique_ptr<Connection>()>;

  /// A connection for one call. Goes back to the pool at the end, unless it is dropped.
  class loan {
   public:
    loan(connection_pool& pool, std::unique_ptr<Connection> lent) noexcept
        : pool_{pool}, lent_{std::move(lent)} {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() { pool_.give_back(std::move(lent_)); }

    Connection& operator*() noexcept { return *lent_; }
    Connection* operator->() noexcept { return lent_.get(); }
    /// Closes it: the next call opens another one.
    void drop() noexcept { lent_.reset(); }

   private:
    connection_pool& pool_;
    std::unique_ptr<Connection> lent_;
  };

  /// Throws `error` (misuse) for a size of zero.
  connection_pool(open make, unsigned size, std::chrono::milliseconds timeout)
      : make_{std::move(make)}, size_{size}, timeout_{timeout} {
    if (size_ == 0) {
      throw error{errc::misuse, "a pool of no connections: set pool_size to 1 or more"};
    }
    idle_.reserve(size_);  // so that giving back cannot fail
  }

  /// Throws `error` (unavailable) when none gets free in time, and what `make` throws.
  loan take(purpose used_for = purpose::anything) {
    auto taken = take_idle_or_a_place(used_for);
    if (taken == nullptr) {
      try {
        taken = make_();
      } catch (...) {
        give_back(nullptr);
        throw;
      }
    }
    return {*this, std::move(taken)};
  }

 private:
  /// Those who wait for a connection: one that gets free wakes one of them.
  struct queue {
    unsigned waiting = 0;
    std::condition_variable freed;
  };

  std::unique_ptr<Connection> take_idle_or_a_place(purpose used_for) {
    const bool may_take_the_last = used_for == purpose::keeping_leases || size_ == 1;
    const unsigned limit = may_take_the_last ? size_ : size_ - 1;
    auto& mine = used_for == purpose::keeping_leases ? keeping_ : others_;
    std::unique_lock lock{mutex_};
    ++mine.waiting;
    const bool has_place = mine.freed.wait_for(lock, timeout_, [&] { return lent_ < limit; });
    --mine.waiting;
    if (!has_place) {
      throw error{errc::unavailable,
                  "all " + std::to_string(limit) + " connections are busy; raise pool_size" +
                      (may_take_the_last ? "" : " (one more is kept for renewals and releases)")};
    }
    ++lent_;
    wake_next();  // there may be more than one place by now
    while (!idle_.empty()) {
      auto last = std::move(idle_.back());
      idle_.pop_back();
      if (last->is_alive()) return last;
    }
    return nullptr;
  }

  void give_back(std::unique_ptr<Connection> lent) noexcept {
    const std::scoped_lock lock{mutex_};
    --lent_;
    if (lent != nullptr) idle_.push_back(std::move(lent));
    wake_next();
  }

  void wake_next() noexcept {
    if (keeping_.waiting > 0 && lent_ < size_) {
      keeping_.freed.notify_one();
    } else if (others_.waiting > 0 && (lent_ + 1 < size_ || size_ == 1)) {
      others_.freed.notify_one();
    }
  }

  open make_;
  unsigned size_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  queue keeping_;                                  // guarded by mutex_; served first
  queue others_;                                   // guarded by mutex_
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  unsigned lent_ = 0;                              // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
