// The store port over a pool of sessions.
#include "rowlock/port/sql_store.hpp"

#include <atomic>
#include <utility>

#include "store/connection_pool.hpp"
#include "store/session.hpp"

namespace rowlock {

namespace detail {

class session_pool {
 public:
  session_pool(std::unique_ptr<session_source> source, unsigned size,
               std::chrono::milliseconds timeout)
      : source_{std::move(source)}, sessions_{[this] { return source_->open(); }, size, timeout} {}

  [[nodiscard]] session_source& source() const noexcept { return *source_; }

  void run(connection_use purpose, work_on_store work) {
    auto lent = sessions_.take(purpose);
    try {
      check_table_once(*lent);
      work(*lent);
    } catch (...) {
      if (!lent->is_usable()) lent.drop();
      throw;
    }
  }

 private:
  void check_table_once(session& any) {
    if (table_is_checked_) return;
    any.check_table();
    table_is_checked_ = true;
  }

  const std::unique_ptr<session_source> source_;
  std::atomic<bool> table_is_checked_{false};
  connection_pool<session> sessions_;
};

}  // namespace detail

namespace {

detail::connection_use purpose_of(store_call made) {
  switch (made) {
    case store_call::renew:
    case store_call::release:
    case store_call::handoff:
      return detail::connection_use::keeping_leases;
    default:
      return detail::connection_use::anything;
  }
}

}  // namespace

sql_store::sql_store(std::unique_ptr<detail::session_source> source, unsigned size,
                     std::chrono::milliseconds timeout)
    : sessions_{
          detail::make_owned_at_home<detail::session_pool>(std::move(source), size, timeout)} {}

sql_store::~sql_store() = default;

void sql_store::pass(store_call made, work_on_store work) {
  sessions_->run(purpose_of(made), work);
}

std::unique_ptr<subscription> sql_store::do_listen(release_listener& listener) {
  return sessions_->source().listen(listener);
}

store_limits sql_store::do_limits() const noexcept { return sessions_->source().limits(); }

}  // namespace rowlock
