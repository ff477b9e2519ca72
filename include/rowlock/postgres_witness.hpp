// Who knows whether a transaction committed, when the answer to its commit got lost.
#ifndef ROWLOCK_POSTGRES_WITNESS_HPP
#define ROWLOCK_POSTGRES_WITNESS_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "rowlock/fence.hpp"
#include "rowlock/postgres_connect.hpp"

namespace rowlock {

/// For `fenced_run_options::in_doubt`: asks the server (`pg_xact_status`) on a connection of its
/// own, and again while the transaction is still in progress or the server cannot be reached, until
/// `patience` is over. Unknown: it was over; or the server has crashed since or is another one,
/// where the transaction's id may be somebody else's; or it has forgotten the transaction.
///
/// Never throws. One connection and one round trip for each time it asks.
///
/// Thread-safety: may be called from any thread.
class postgres_witness {
 public:
  /// A libpq URI or keyword string, of the server (not a standby) that the transactions run on.
  /// Throws `error` (misuse) when libpq does not understand it.
  explicit postgres_witness(const std::string& connection_string,
                            std::chrono::milliseconds patience = std::chrono::seconds{10});

  /// Connections from the application: `make()` returns a `std::unique_ptr<pqxx::connection>`, new
  /// at each call. Give it a `connect_timeout`, which bounds how far `patience` can be exceeded.
  template <detail::connection_factory Make>
  explicit postgres_witness(Make make,
                            std::chrono::milliseconds patience = std::chrono::seconds{10})
      : postgres_witness{detail::erased(std::move(make)), patience} {}
  postgres_witness(detail::make_connection make, std::chrono::milliseconds patience);

  /// `transaction` is the name that the fence took along.
  commit_fate operator()(const std::string& transaction) const noexcept;

 private:
  class impl;
  std::shared_ptr<const impl> impl_;
};

}  // namespace rowlock

#endif
