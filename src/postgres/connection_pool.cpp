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

connection_pool::loan connection_pool::take() {
  auto taken = take_idle_or_a_place();
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

std::unique_ptr<postgres_connection> connection_pool::take_idle_or_a_place() {
  std::unique_lock lock{mutex_};
  if (!freed_.wait_for(lock, timeout_, [this] { return lent_ < size_; })) {
    throw error{errc::unavailable,
                "all " + std::to_string(size_) + " connections are busy; raise pool_size"};
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
  freed_.notify_one();
}

}  // namespace rowlock::postgres
