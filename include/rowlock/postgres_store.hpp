// The store in PostgreSQL: connections, options, migrations, and whether a transaction was
// committed.
#ifndef ROWLOCK_POSTGRES_STORE_HPP
#define ROWLOCK_POSTGRES_STORE_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rowlock/fence.hpp"
#include "rowlock/port/sql_store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::detail {

/// pqxx::connection is a typedef in libpqxx 6 and a class in 7, so it cannot be named here.
struct made_connection {
  std::shared_ptr<void> connection;
  const std::type_info* type = nullptr;
};
using make_connection = std::function<made_connection()>;

/// What returns a `std::unique_ptr<pqxx::connection>`, new at each call.
template <class Make>
concept connection_factory =
    std::is_invocable_v<Make&> && !std::is_convertible_v<Make, std::string>;

template <class Make>
make_connection erased(Make make) {
  return [make = std::move(make)]() mutable -> made_connection {
    auto opened = make();
    using connection = std::remove_reference_t<decltype(*opened)>;
    return {std::shared_ptr<connection>{std::move(opened)}, &typeid(connection)};
  };
}

}  // namespace rowlock::detail

namespace rowlock {

struct postgres_options {
  table_name table = {};
  /// The most connections at once. Each call uses one, for one statement or two; none is held while
  /// a lease is. Of two or more, calls for new leases never have all; renewals and releases share
  /// what is left, so that many who wait for keys cannot make held ones run out.
  unsigned pool_size = 4;
  /// How long a call waits for a free connection before it throws `unavailable`.
  std::chrono::milliseconds pool_timeout{5000};
  /// Added to connection strings that do not say otherwise, so that a silent network costs seconds.
  /// These and the limits below are above zero and 24 hours at most.
  std::chrono::seconds connect_timeout{5};
  std::chrono::milliseconds tcp_user_timeout{10'000};
  std::chrono::milliseconds statement_timeout{10'000};
  /// How long a statement may wait for somebody who locks the whole table (ALTER TABLE, LOCK
  /// TABLE); then the call is `unavailable`. Nobody's row lock is waited for.
  std::chrono::milliseconds lock_timeout{2000};
  /// How long a statement of a call may go unanswered before its connection is given up, whatever
  /// the network pretends: a pooler that hangs, or a stopped server, acknowledges every packet.
  /// Above `statement_timeout`, so that a server that works answers first. A call on a server that
  /// hangs ends after `pool_timeout`, `connect_timeout` and this together at the latest; an
  /// acquisition whose answer got lost is sent once more, which may take as long again.
  std::chrono::milliseconds answer_timeout{15'000};
  /// How far the clocks of the servers that may execute a call can be apart: a lease is taken over
  /// only when it ran out that long ago. Zero for PostgreSQL, whose server has one clock; for an
  /// engine that speaks PostgreSQL and has a clock on every node, what it allows between them, in
  /// each store of the table and in each `postgres_table`. At most a minute.
  std::chrono::milliseconds clock_skew{};
  /// Hear of releases while somebody waits: LISTEN, on one more connection. Without it, and behind
  /// a pooler in transaction mode, waiting is polling.
  bool wake_up = true;
  /// A release does not wait for the disk, nor for a synchronous standby: `synchronous_commit` is
  /// off for its statement, unless it lets the row stay closed or marks work as done. When the
  /// server crashes less than a second later, the release may be forgotten, with the failure that
  /// it counted; then the key is free when its lease would have run out. Grants, renewals and
  /// hand-overs wait.
  bool asynchronous_release = false;
};

/// A small pool of connections of its own, opened when needed; each call is a transaction of its
/// own at READ COMMITTED, except behind a pooler that does not let us ask for that: there it has
/// the isolation of the role. Statements are prepared, and sent unnamed for good as soon as a
/// pooler between us and the server turns out not to allow it. Their `application_name` is
/// `rowlock host:pid`, with the holder that a `lock_table` writes unless told otherwise, of which
/// PostgreSQL keeps 63 bytes; one that the connection string, its service or PGAPPNAME has stays.
///
/// The first call takes two round trips more, in which it looks at the table: it throws `error`
/// (rejected) for one that is not as its migrations make it, so that a key might have two holders.
/// `weak_settings` reports fsync, full_page_writes and synchronous_commit, and an unlogged table,
/// in one round trip.
///
/// Thread-safety: all members may be called from any thread. It runs one thread of its own, started
/// with the first call, and one for each subscription (`listen`), which a `lock_table` makes with
/// its first wait.
class postgres_store final : public sql_store {
 public:
  /// A libpq URI or keyword string. Nothing is opened yet. Throws `error` (misuse) for options that
  /// cannot be.
  explicit postgres_store(std::string connection_string, postgres_options options = {});

  /// Connections from the application: `make()` returns a `std::unique_ptr<pqxx::connection>`, new
  /// at each call, used by nobody else. Of the time limits of the options only `pool_timeout` and
  /// `answer_timeout` apply to them.
  template <detail::connection_factory Make>
  explicit postgres_store(Make make, postgres_options options = {})
      : postgres_store{detail::erased(std::move(make)), std::move(options)} {}
  postgres_store(detail::make_connection make, postgres_options options);
};

/// Applies what is missing, in one transaction, and returns it; nothing the second time. Any number
/// of processes may call it at once. Throws `error`: rejected also for a schema newer than ours.
std::vector<migration> migrate_postgres(const std::string& connection_string,
                                        const table_name& table = {});

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
