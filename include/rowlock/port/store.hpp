// The interface between the locking rules and a database.
#ifndef ROWLOCK_PORT_STORE_HPP
#define ROWLOCK_PORT_STORE_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock {

namespace detail {
class statement_batcher;
}

/// Receives notifications of releases, from any thread, one call at a time. Must return soon.
class ROWLOCK_EXPORT release_listener {
 public:
  release_listener() = default;
  release_listener(const release_listener&) = delete;
  release_listener& operator=(const release_listener&) = delete;
  virtual ~release_listener() = default;

  /// A hint: the key may have been released.
  virtual void released(const lock_key& key) noexcept = 0;
  /// A hint of a store that does not know the key: some may have been released. Returns whether any
  /// is waited for; if not, the next hint may come later.
  virtual bool changed() noexcept { return false; }
  /// How long a grant lasts unless renewed, and how long its release will be announced.
  struct grant_times {
    std::chrono::microseconds lease{};
    std::chrono::microseconds watched_for{};
  };
  /// A hint that a store may omit: the key was granted, perhaps to this process. It mostly follows
  /// the notification of the release before.
  virtual void taken(const lock_key& /*key*/, const grant_times& /*lasts*/) noexcept {}
  /// A hint: the holder of the key may have been asked to yield it.
  virtual void asked(const lock_key& /*key*/) noexcept {}
  /// Releases and requests are announced from now on; earlier ones may have been missed.
  virtual void listening() noexcept = 0;
};

/// Calls its listener until it is destroyed.
class ROWLOCK_EXPORT subscription {
 public:
  subscription() = default;
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  virtual ~subscription() = default;

  /// Whether releases are announced with their keys. If not, only `changed` is called.
  [[nodiscard]] virtual bool names_keys() const noexcept { return true; }
};

/// How best to call a store. No promise depends on it.
struct store_limits {
  /// The most statements at once: the number of connections, or one where writers take turns.
  unsigned statements_at_once = 4;
  /// From how many concurrent calls on a shared statement is faster than one for each.
  std::size_t batching_pays_from = 2;
  /// The most requests of one call, which locks its rows meanwhile. Longer calls are split.
  std::size_t longest_call = 1000;
  /// The same for a renewal.
  std::size_t longest_renewal = 1000;
};

/// Administration of a lock table: see `operators.hpp`.
class ROWLOCK_EXPORT store_admin {
 public:
  store_admin() = default;
  store_admin(const store_admin&) = delete;
  store_admin& operator=(const store_admin&) = delete;
  virtual ~store_admin() = default;

  /// The owned and closed rows: all, in key order, or those of the request. For people. One round
  /// trip. A page by key reads the primary key from `after` on until it has enough rows, including
  /// idle rows on the way. The other orders scan the table. Each page is a snapshot of its own.
  std::vector<row_state> list(const list_request& request = {}) {
    home_.require();
    check(request);
    return do_list(request);
  }
  /// Takes the row from its holder, or opens a closed row: unsets it, moves its version, and writes
  /// the reason into it. The holder's later requests are answered `lost`. One round trip; one more
  /// if nothing was released.
  force_answer force_release(const force_request& request) {
    home_.require();
    check(request);
    return do_force_release(request);
  }
  /// Deletes idle rows in key order. An idle row is unowned, not closed, not remembered as done and
  /// not locked, and its version is older than `older_than` by the clock. `type#0` holds the number
  /// of the rows `type#1` to `type#1000` with its source id, and is kept while any of them exists.
  /// A row that is created again has a greater version than before, unless the database's clock
  /// goes back by `older_than`. One round trip; more for each row that cannot be deleted.
  purge_answer purge(const purge_request& request) {
    home_.require();
    check(request);
    return do_purge(request);
  }
  /// Events of the history, newest first. At most five round trips, on SQLite three. Reads the
  /// index by key if type and source id are given, and by time otherwise, from the newest event of
  /// the request to the last of the page: a filter that few events pass reads all events between
  /// `until` and `since`. For holds that last it reads the lock table, all of it without a key.
  history_page history(const history_request& request = {}) {
    home_.require();
    check(request);
    return do_history(request);
  }
  /// Deletes the oldest events and returns how many; zero without a history. Two round trips. No
  /// lock waits for it, except on SQLite, where it is the file's writer meanwhile.
  std::size_t purge_history(const history_purge_request& request) {
    home_.require();
    check(request);
    return do_purge_history(request);
  }
  /// The server, the schema of the lock table and the rights of this role. For people, before the
  /// first use: it needs no table and changes nothing. At most ten round trips.
  inspection inspect() {
    home_.require();
    return do_inspect();
  }
  /// The database's clock. One round trip. Needs no table.
  database_time now() {
    home_.require();
    return do_now();
  }
  /// Settings of the database that weaken a promise: for each, a sentence that says what may go
  /// wrong and what to set. One round trip. Needs no table.
  std::vector<std::string> weak_settings() {
    home_.require();
    return do_weak_settings();
  }

 protected:
  virtual std::vector<row_state> do_list(const list_request& request) = 0;
  virtual force_answer do_force_release(const force_request& request) = 0;
  virtual purge_answer do_purge(const purge_request& request) = 0;
  virtual history_page do_history(const history_request& /*request*/) { return {}; }
  virtual std::size_t do_purge_history(const history_purge_request& /*request*/) { return 0; }
  virtual inspection do_inspect() { return {}; }
  virtual database_time do_now() = 0;
  virtual std::vector<std::string> do_weak_settings() { return {}; }

  [[nodiscard]] const detail::home_process& home() const noexcept { return home_; }

 private:
  detail::home_process home_;
};

/// The lock table of one database. Each call is atomic per key and made in autocommit, at READ
/// COMMITTED, on the database's clock. Calls take spans, because a process renews all its leases at
/// once and concurrent calls may share a statement. Answers are in the order of the requests. If
/// two requests of one call have the same key, at most one is granted.
///
/// The public members check every call before they call the virtual of their name: that this
/// process made the store, and every request (`misuse`). They split calls that are longer than
/// `limits` allows. Overridden virtuals get at least one request, and only checked ones. If a part
/// of a split change is `unavailable` after another was made, the outcome is unknown.
///
/// The effect of each call by the state of the row (the conformance suite tests each cell):
///
///   row           | acquire            | acquire, expected v      | renew (o, v)  | release (o, v)
///   --------------+--------------------+--------------------------+---------------+----------------
///   missing       | granted (inserted) | stale                    | lost          | lost
///   unowned       | granted            | granted if at v, or stale| lost          | lost
///   live, mine    | granted, same v    | granted, same v          | renewed       | released
///   live, other's | held               | held if at v, or stale   | lost          | lost
///   run out,mine  | granted, new v     | stale (see ready)        | renewed       | released
///   run out,other | granted, expiry+1* | stale (see ready)        | lost          | lost
///   locked by a   | busy; held where   | busy; stale where the    | busy if (o, v)| busy if (o, v)
///   transaction   | the lease is live  | version is seen to differ| , else lost   | , else lost
///
/// * and `took_over_expired`. `ready` is `read_mode::ready_to_commit`.
///
/// A closed row is an unowned row that was released to stay closed, and still does. For acquire it
/// is like another owner's live lease; for the other calls it is unowned. If the row remembers work
/// as done, acquire with `unless_done` answers done, before held and busy, unless the row is live
/// and mine; other calls ignore the mark. `mine` means the request's owner; for renew and release
/// also its version.
///
/// The version moves at grant and at release, never at renewal. A refusal does not change an
/// existing row. No call waits for another transaction's row lock, except on PostgreSQL for one
/// taken in the microseconds between the search and the write of a grant or release: at most
/// `lock_timeout` for each transaction that takes it in turn. (On SQLite a call waits for the
/// file's one writer, at most `turn_timeout`.) Errors: `unavailable` (nothing happened),
/// `outcome_unknown` (repeating any call with the same arguments is safe), `rejected`, `misuse`.
/// Contention is never an error.
///
/// After fork() a store belongs to the parent. In the child every call throws `misuse`, and the
/// destructor touches neither shared connections nor locks: what the store had stays until the
/// child ends. Make a new one there (not on a SQLite file that was open before). Thread-safe.
class ROWLOCK_EXPORT store : public store_admin {
 public:
  /// `each`: each request by itself. One round trip for an existing row that is granted; one more
  /// to read why a row was not. On PostgreSQL that is none for a call of a single key that another
  /// owner has, and two for a busy row. Two more for a missing row, or three if another process
  /// creates it at that moment; on PostgreSQL one for a single key, and none if the last row of its
  /// type was created too. Two more for a grant that was made before. On PostgreSQL one more if the
  /// row is not as the last ones of its type were.
  ///
  /// `all_or_none`: all requests or none, in one statement. If one cannot be granted, nothing
  /// changes: the requests that could be granted are `withheld`, and the others give their reasons.
  /// Two overlapping sets at the same moment may both be refused (busy); neither waits. One round
  /// trip if all rows exist and are free or already belong to the same owners; two to read why not.
  /// Three more for missing rows, which are created and stay.
  ///
  /// `any`: the free rows, existing ones first, in the order of the requests. The others are
  /// `withheld`. A retry of the same attempt returns its earlier grants first. One round trip if
  /// enough rows exist and are free, else two.
  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests,
                                      acquire_mode mode = {});
  /// One round trip; one more if a row was not renewed.
  std::vector<change_answer> renew(std::span<const renew_request> requests);
  /// One round trip; one more if a row was not released, and on PostgreSQL one to notify the
  /// waiters of a single row, if any.
  std::vector<change_answer> release(std::span<const release_request> requests);
  /// A release and an acquire for the next owner at once: no other caller gets in between, and
  /// nothing is announced. After `outcome_unknown` call acquire for the next owner. One round trip;
  /// one more if there was no handoff. (By default two calls: another caller may get in between.)
  handoff_answer handoff(const handoff_request& request) {
    home().require();
    check(request);
    return do_handoff(request);
  }
  /// Writes a note into the row of a lease that is held, as renew (o, v) would find it. One round
  /// trip; one more if it was not written.
  change_answer write_note(const note_request& request) {
    home().require();
    check(request);
    return do_write_note(request);
  }
  /// Writes into the row of a lease that its holder is asked to yield, and announces it to
  /// processes that `listen`. Replaces an earlier request; the next grant forgets it. `lost` if no
  /// lease has the row at this version. One round trip; one more for the announcement, and one if
  /// it was not written.
  change_answer ask(const ask_request& request) {
    home().require();
    check(request);
    return do_ask(request);
  }
  /// The states of the rows; none for a missing row. One round trip.
  ///
  /// `ready_to_commit` creates missing rows and unsets leases that have run out, which moves their
  /// version and raises `expiry_count`. Otherwise a late holder and an optimistic commit could both
  /// succeed. Rows that it would have to wait for stay as they are. Two more round trips if there
  /// is something to do.
  ///
  /// `watched` is for waiters. It marks the held rows, for at least five seconds, so that their
  /// release is announced to processes that `listen`. (A refused attempt makes no other change, and
  /// this one only if it waits.) One more round trip every few seconds.
  ///
  /// `shown` is for people. It adds which database session has the row locked and since when, as
  /// far as this role may see it. The lock may already be over. One more round trip a row.
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys,
                                             read_mode mode = read_mode::committed);
  /// Notifies `listener` of releases and grants of watched rows and of requests to yield, or that
  /// any row has changed. The listener and the store must outlive the subscription. Notifications
  /// may be lost or wrong. Null: this store announces nothing. No round trip: listening starts, and
  /// restarts, in the background. Ending it waits at most for a connection being opened.
  std::unique_ptr<subscription> listen(release_listener& listener) {
    home().require();
    return do_listen(listener);
  }
  [[nodiscard]] store_limits limits() const noexcept { return do_limits(); }

 protected:
  virtual std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                                 acquire_mode mode) = 0;
  virtual std::vector<change_answer> do_renew(std::span<const renew_request> requests) = 0;
  virtual std::vector<change_answer> do_release(std::span<const release_request> requests) = 0;
  virtual handoff_answer do_handoff(const handoff_request& request);
  virtual change_answer do_write_note(const note_request& request) = 0;
  virtual change_answer do_ask(const ask_request& request) = 0;
  virtual std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                        read_mode mode) = 0;
  virtual std::unique_ptr<subscription> do_listen(release_listener& /*listener*/) {
    return nullptr;
  }
  [[nodiscard]] virtual store_limits do_limits() const noexcept { return {}; }

 private:
  friend class passing_store;
  friend class detail::statement_batcher;  // its callers have checked the request of a lone call
};

}  // namespace rowlock

#endif
