// A store in PostgreSQL, with its options, migrations, and a check of lost commits.
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

#include "rowlock/detail/export.hpp"
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

/// A function that returns a new `std::unique_ptr<pqxx::connection>` at each call.
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
  /// The most connections at once. Each call uses one, for one statement, rarely for a few more; a
  /// lease uses none. Of two or more, acquisitions always leave one to renewals and releases, so
  /// that many waiters cannot make held leases run out.
  unsigned pool_size = 4;
  /// How long a call waits for a free connection before it throws `unavailable`.
  std::chrono::milliseconds pool_timeout{5000};
  /// Added to connection strings that lack it, so that a silent network costs only seconds. The
  /// limits from here to `answer_timeout` are above zero and at most 24 hours.
  std::chrono::seconds connect_timeout{5};
  std::chrono::milliseconds tcp_user_timeout{10'000};
  std::chrono::milliseconds statement_timeout{10'000};
  /// How long a statement may wait for a transaction that locks the whole table (ALTER TABLE, LOCK
  /// TABLE); a call that has waited once or twice is `unavailable`. No statement waits for a row
  /// that another transaction has locked, unless it was locked in the microseconds between the
  /// statement's search and its write: it waits this long for each such transaction, then the key
  /// is busy. At most half of `statement_timeout` is used; if the connection string has a statement
  /// timeout of its own, set at most half of that. Connections of a factory get it too (at most
  /// half of their own), unless their connection string or the factory has set another one.
  std::chrono::milliseconds lock_timeout{1000};
  /// How long a statement may go unanswered before its connection is closed. It covers failures
  /// that the network does not show: a hanging pooler or a stopped server acknowledges every
  /// packet. Above `statement_timeout`, so that a working server answers first. A call on a hanging
  /// server ends after `pool_timeout`, `connect_timeout` and this together at the latest. After a
  /// lost answer an acquisition is sent again, which may take as long.
  std::chrono::milliseconds answer_timeout{15'000};
  /// How far apart the clocks of the servers that may execute a call can be; at most a minute. A
  /// lease is taken over only if it ran out at least this long ago. Zero for PostgreSQL, whose
  /// server has one clock. For an engine with the protocol of PostgreSQL and a clock on every node:
  /// the difference that it allows, the same for all users of the table.
  std::chrono::milliseconds clock_skew{};
  /// Receive notifications of releases during a wait, by LISTEN on one more connection. Without it,
  /// and behind a pooler in transaction mode, waiters poll.
  bool wake_up = true;
  /// Called when the server refuses a login. Returns the connection string to use from now on, for
  /// instance with a changed password; an exception counts as no new one. Called from any thread,
  /// one call at a time. Not used with a factory of connections, which can do that itself.
  std::function<std::string()> connection_string_now = {};
};

/// A store with a small pool of connections, opened on demand. Each call is a transaction of its
/// own at READ COMMITTED, or at the role's isolation behind a pooler that does not allow setting
/// it. Statements are prepared, or unnamed for good once a pooler turns out not to allow that. The
/// `application_name` is `rowlock host:pid`, with the default holder label of a `lock_table`;
/// PostgreSQL keeps 63 bytes of it. A name from the connection string, service or PGAPPNAME stays.
///
/// The first call takes two more round trips to check the table. It throws `error` (rejected) for a
/// table that differs from its migrations in a way that could give a key two holders.
/// `weak_settings` checks fsync, full_page_writes, synchronous_commit and session_replication_role.
///
/// Thread-safe. It runs one thread of its own from the first call on, and one for each subscription
/// (`listen`). A `lock_table` subscribes with its first wait.
class ROWLOCK_EXPORT postgres_store final : public sql_store {
 public:
  /// A libpq URI or keyword string. Opens no connection yet. Wrong options are misuse.
  explicit postgres_store(std::string connection_string, postgres_options options = {});

  /// Connections from the application: `make()` returns a `std::unique_ptr<pqxx::connection>`, new
  /// at each call and used for nothing else. Of the time limits only `pool_timeout`,
  /// `answer_timeout` and `lock_timeout` apply to them.
  template <detail::connection_factory Make>
  explicit postgres_store(Make make, postgres_options options = {})
      : postgres_store{detail::erased(std::move(make)), std::move(options)} {}
  postgres_store(detail::make_connection make, postgres_options options);
};

/// Applies missing migrations in one transaction and returns them. Any number of processes may call
/// it at once. Throws `error`; rejected also for a schema newer than this library's. `history`
/// begins or ends the history; then the returned list ends with that step (number 0), unless
/// nothing changed. The trigger's function names the table with its schema. The step locks the lock
/// table, for which it waits two seconds.
ROWLOCK_EXPORT std::vector<migration> migrate_postgres(
    const std::string& connection_string, const table_name& table = {},
    history_option history = history_option::unchanged);

/// Finds out whether a transaction has committed, for `fenced_run_options::in_doubt`. It queries
/// the server (`pg_xact_status`) on a connection of its own. It repeats that while the transaction
/// is in progress or the server cannot be reached, until `patience` is over. The fate is unknown
/// after `patience`, if the query fails for another reason, if the server has forgotten the
/// transaction, and if the server has crashed since or is another one, where the id may name
/// another transaction. Never throws. One connection and one round trip for each query.
/// Thread-safe.
class ROWLOCK_EXPORT postgres_witness {
 public:
  /// A libpq URI or keyword string of the server (not a standby) that runs the transactions. Throws
  /// `error` (misuse) if libpq does not understand it.
  explicit postgres_witness(const std::string& connection_string,
                            std::chrono::milliseconds patience = std::chrono::seconds{10});

  /// Connections from the application, as for `postgres_store`. Give them a `connect_timeout`,
  /// which bounds how far `patience` can be exceeded.
  template <detail::connection_factory Make>
  explicit postgres_witness(Make make,
                            std::chrono::milliseconds patience = std::chrono::seconds{10})
      : postgres_witness{detail::erased(std::move(make)), patience} {}
  postgres_witness(detail::make_connection make, std::chrono::milliseconds patience);

  /// `transaction` is the name that the fence read.
  commit_fate operator()(const std::string& transaction) const noexcept;

 private:
  class impl;
  std::shared_ptr<const impl> impl_;
};

}  // namespace rowlock

#endif
