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

/// Passes each call to a session that no other call uses, opened on demand. The first call that
/// needs the table checks it (`rejected`). Of two or more sessions, calls for new leases always
/// leave one to renewals and releases. Drops a session whose connection was lost. Thread-safe.
class ROWLOCK_EXPORT sql_store : public passing_store {
 public:
  ~sql_store() override;

 protected:
  /// A call waits for a free session for at most `timeout`, then throws `error` (unavailable).
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
