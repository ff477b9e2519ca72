// A bounded pool of connections, shared by all threads of a store.
#ifndef ROWLOCK_STORE_CONNECTION_POOL_HPP
#define ROWLOCK_STORE_CONNECTION_POOL_HPP

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

inline constexpr unsigned largest_pool = 10'000;  // far more than a server accepts

/// Opens connections on demand, keeps them, and replaces those that the server has closed
/// (`Connection::is_alive`).
///
/// Calls for new leases never take the last of two or more connections, however many such calls
/// wait. That one is left for calls that renew or end leases, so that held leases do not run out.
///
/// Thread-safety: all members may be called from any thread. The pool must outlive its loans.
template <class Connection>
class connection_pool {
 public:
  using purpose = connection_use;
  using open = std::function<std::unique_ptr<Connection>()>;

  /// A connection for one call. Returns to the pool at the end, unless it is dropped.
  class loan {
   public:
    loan(connection_pool& pool, purpose used_for, std::unique_ptr<Connection> lent) noexcept
        : pool_{pool}, used_for_{used_for}, lent_{std::move(lent)} {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() { pool_.give_back(used_for_, std::move(lent_)); }

    Connection& operator*() noexcept { return *lent_; }
    Connection* operator->() noexcept { return lent_.get(); }
    /// Closes the connection: the next call opens another one.
    void drop() noexcept { lent_.reset(); }

   private:
    connection_pool& pool_;
    const purpose used_for_;
    std::unique_ptr<Connection> lent_;
  };

  /// Throws `error` (misuse) for a size of 0 or above `largest_pool`.
  connection_pool(open make, unsigned size, std::chrono::milliseconds timeout)
      : make_{std::move(make)}, size_{size}, timeout_{timeout} {
    if (size_ == 0 || size_ > largest_pool) {
      throw error{errc::misuse, "a pool of " + std::to_string(size_) +
                                    " connections: set pool_size to between 1 and " +
                                    std::to_string(largest_pool)};
    }
    keeping_.limit = size_;
    others_.limit = size_ == 1 ? 1 : size_ - 1;
    idle_.reserve(size_);  // so that returning a connection cannot fail
  }

  /// Throws `error` (unavailable) if no connection gets free in time, and any exception of `make`.
  loan take(purpose used_for = purpose::anything) {
    auto taken = take_idle_or_a_place(used_for);
    try {
      if (taken != nullptr && !taken->is_alive()) taken.reset();
      if (taken == nullptr) taken = make_();
    } catch (...) {
      give_back(used_for, nullptr);
      throw;
    }
    return {*this, used_for, std::move(taken)};
  }

  /// The number of calls that wait for a connection.
  [[nodiscard]] unsigned waiting() {
    const std::scoped_lock lock{mutex_};
    return keeping_.waiting + others_.waiting;
  }

 private:
  /// Calls that wait for a connection; each freed connection wakes one of them.
  struct queue {
    unsigned lent = 0;
    unsigned limit = 0;
    unsigned waiting = 0;
    std::condition_variable freed;
  };

  std::unique_ptr<Connection> take_idle_or_a_place(purpose used_for) {
    auto& mine = queue_of(used_for);
    std::unique_lock lock{mutex_};
    ++mine.waiting;
    const bool has_place = mine.freed.wait_for(lock, timeout_, [&] { return may_take(mine); });
    --mine.waiting;
    if (!has_place) throw_busy(mine.limit);
    ++mine.lent;
    wake_next();  // more than one place may be free by now
    if (idle_.empty()) return nullptr;
    auto last = std::move(idle_.back());
    idle_.pop_back();
    return last;
  }

  void give_back(purpose used_for, std::unique_ptr<Connection> lent) noexcept {
    const std::scoped_lock lock{mutex_};
    --queue_of(used_for).lent;
    if (lent != nullptr) idle_.push_back(std::move(lent));
    wake_next();
  }

  queue& queue_of(purpose used_for) {
    return used_for == purpose::keeping_leases ? keeping_ : others_;
  }
  bool may_take(const queue& taker) const {
    return keeping_.lent + others_.lent < size_ && taker.lent < taker.limit;
  }
  void wake_next() noexcept {
    for (auto* each : {&keeping_, &others_}) {
      if (each->waiting == 0 || !may_take(*each)) continue;
      each->freed.notify_one();
      return;
    }
  }

  [[noreturn]] void throw_busy(unsigned limit) const {
    throw error{errc::unavailable,
                "all " + std::to_string(size_) + " connections are busy" +
                    (limit == size_ ? "" : " or kept for renewals and releases") +
                    "; raise pool_size"};
  }

  open make_;
  unsigned size_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  queue keeping_;                                  // guarded by mutex_; served first
  queue others_;                                   // guarded by mutex_
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
