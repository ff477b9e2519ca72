// The store port over a pool of sessions.
#include "rowlock/port/sql_store.hpp"

#include <utility>

#include "store/session.hpp"
#include "store/session_pool.hpp"

namespace rowlock {

namespace {

detail::session_use purpose_of(store_call made) {
  switch (made) {
    case store_call::renew:
    case store_call::release:
    case store_call::handoff:
      return detail::session_use::keeping_leases;
    default:
      return detail::session_use::anything;
  }
}

bool needs_table(store_call made) {
  return made != store_call::inspect && made != store_call::now &&
         made != store_call::weak_settings;
}

}  // namespace

sql_store::sql_store(std::unique_ptr<detail::session_source> source, unsigned size,
                     std::chrono::milliseconds timeout)
    : sessions_{
          detail::make_owned_at_home<detail::session_pool>(std::move(source), size, timeout)} {}

sql_store::~sql_store() = default;

void sql_store::pass(store_call made, work_on_store work) {
  if (needs_table(made)) {
    sessions_->run(purpose_of(made), work);
  } else {
    sessions_->run_unchecked(work);
  }
}

std::unique_ptr<subscription> sql_store::do_listen(release_listener& listener) {
  return sessions_->source().listen(listener);
}

store_limits sql_store::do_limits() const noexcept { return sessions_->source().limits(); }

}  // namespace rowlock
