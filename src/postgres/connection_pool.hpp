// A few connections, shared by all threads of a store.
#ifndef ROWLOCK_POSTGRES_CONNECTION_POOL_HPP
#define ROWLOCK_POSTGRES_CONNECTION_POOL_HPP

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "postgres/postgres_connection.hpp"

namespace rowlock::postgres {

/// Opens connections when they are needed, keeps them, and replaces those that the server closed
/// meanwhile.
///
/// Of two or more, the last one is kept for calls that keep leases alive or end them, so that calls
/// for new ones, however many wait, cannot make held ones run out.
///
/// Thread-safety: all members may be called from any thread. It must outlive its loans.
class connection_pool {
 public:
  enum class purpose { anything, keeping_leases };

  using open = std::function<std::unique_ptr<postgres_connection>()>;

  /// A connection for one call. Goes back to the pool at the end, unless it is dropped.
  class loan {
   public:
    loan(connection_pool& pool, std::unique_ptr<postgres_connection> lent) noexcept;
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan();

    postgres_connection& operator*() noexcept { return *lent_; }
    postgres_connection* operator->() noexcept { return lent_.get(); }
    /// Closes it: the next call opens another one.
    void drop() noexcept { lent_.reset(); }

   private:
    connection_pool& pool_;
    std::unique_ptr<postgres_connection> lent_;
  };

  /// Throws `error` (misuse) for a size of zero.
  connection_pool(open make, unsigned size, std::chrono::milliseconds timeout);

  /// Throws `error` (unavailable) when none gets free in time, and what `make` throws.
  loan take(purpose used_for = purpose::anything);

 private:
  std::unique_ptr<postgres_connection> take_idle_or_a_place(purpose used_for);
  void give_back(std::unique_ptr<postgres_connection> lent) noexcept;

  open make_;
  unsigned size_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<postgres_connection>> idle_;  // guarded by mutex_
  unsigned lent_ = 0;                                       // guarded by mutex_
};

}  // namespace rowlock::postgres

#endif
