// A few connections, shared by all threads of a store.
#include "postgres/connection_pool.hpp"

#include <string>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::postgres {

connection_pool::loan::loan(connection_pool& pool,
                            std::unique_ptr<postgres_connection> lent) noexcept
    : pool_{pool}, lent_{std::move(lent)} {}

connection_pool::loan::~loan() { pool_.give_back(std::move(lent_)); }

connection_pool::connection_pool(open make, unsigned size, std::chrono::milliseconds timeout)
    : make_{std::move(make)}, size_{size}, timeout_{timeout} {
  if (size_ == 0) throw error{errc::misuse, "a pool of no connections: set pool_size to 1 or more"};
  idle_.reserve(size_);  // so that giving back cannot fail
}

connection_pool::loan connection_pool::take(purpose used_for) {
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

std::unique_ptr<postgres_connection> connection_pool::take_idle_or_a_place(purpose used_for) {
  const bool may_take_the_last = used_for == purpose::keeping_leases || size_ == 1;
  const unsigned limit = may_take_the_last ? size_ : size_ - 1;
  std::unique_lock lock{mutex_};
  if (!freed_.wait_for(lock, timeout_, [&] { return lent_ < limit; })) {
    throw error{errc::unavailable,
                "all " + std::to_string(limit) + " connections are busy; raise pool_size" +
                    (may_take_the_last ? "" : " (one more is kept for renewals and releases)")};
  }
  ++lent_;
  while (!idle_.empty()) {
    auto last = std::move(idle_.back());
    idle_.pop_back();
    if (last->is_alive()) return last;
  }
  return nullptr;
}

void connection_pool::give_back(std::unique_ptr<postgres_connection> lent) noexcept {
  {
    const std::scoped_lock lock{mutex_};
    --lent_;
    if (lent != nullptr) idle_.push_back(std::move(lent));
  }
  freed_.notify_all();  // who is woken may have to leave it to somebody else
}

}  // namespace rowlock::postgres
