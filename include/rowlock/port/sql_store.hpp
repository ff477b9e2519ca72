// A store over a few sessions of a SQL database.
#ifndef ROWLOCK_PORT_SQL_STORE_HPP
#define ROWLOCK_PORT_SQL_STORE_HPP

#include <chrono>
#include <memory>

#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock {

namespace detail {
class session_pool;
class session_source;
}  // namespace detail

/// Passes each call to a session that no other call uses, opened when it is needed. Before the
/// first call that needs the table it is checked (`rejected`). Of two or more sessions, calls for
/// new leases never have all: renewals and releases share the one that is left. A session whose
/// connection was lost is dropped.
///
/// Thread-safety: all members may be called from any thread.
class ROWLOCK_EXPORT sql_store : public passing_store {
 public:
  ~sql_store() override;

 protected:
  /// A call waits for a free session for `timeout` at most; then it throws `error` (unavailable).
  /// Throws `error` (misuse) for a size of 0 or above 10,000.
  sql_store(std::unique_ptr<detail::session_source> source, unsigned size,
            std::chrono::milliseconds timeout);

  void pass(store_call made, work_on_store work) override;
  std::unique_ptr<subscription> do_listen(release_listener& listener) override;
  [[nodiscard]] store_limits do_limits() const noexcept override;

 private:
  detail::owned_at_home<detail::session_pool> sessions_;
};

}  // namespace rowlock

#endif
