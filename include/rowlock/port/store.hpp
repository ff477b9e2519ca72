// The port between the locking rules and a database.
#ifndef ROWLOCK_PORT_STORE_HPP
#define ROWLOCK_PORT_STORE_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock {

/// Hears of releases. Called from any thread, one call at a time; must return soon.
class release_listener {
 public:
  release_listener() = default;
  release_listener(const release_listener&) = delete;
  release_listener& operator=(const release_listener&) = delete;
  virtual ~release_listener() = default;

  /// The key was released, perhaps: a hint, no more.
  virtual void released(const lock_key& key) noexcept = 0;
  /// How long a grant lasts unless it is renewed, and how long its release will be announced.
  struct grant_times {
    std::chrono::microseconds lease{};
    std::chrono::microseconds word{};
  };
  /// The key was granted to somebody, perhaps to this process: a hint as well, which a store may
  /// give or not. It comes after the one of the release before.
  virtual void taken(const lock_key& /*key*/, const grant_times& /*lasts*/) noexcept {}
  /// From now on releases are heard of; what came before may have been missed.
  virtual void listening() noexcept = 0;
};

/// Lasts until it is destroyed; then the listener is called no more.
class subscription {
 public:
  subscription() = default;
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  virtual ~subscription() = default;
};

/// How a store wants to be called. No promise depends on it.
struct store_limits {
  /// Statements that get on side by side. More would wait for each other, and do better together.
  unsigned statements_at_once = 4;
  /// So many calls at once are better made by one statement than by one each, side by side.
  std::size_t batching_pays_from = 2;
  /// Requests of one call; rows stay locked while a statement runs. Longer calls are split.
  std::size_t longest_call = 1000;
  /// The same of a renewal.
  std::size_t longest_renewal = 1000;
};

/// What people on call ask of a lock table: see `operators.hpp`.
class store_admin {
 public:
  store_admin() = default;
  store_admin(const store_admin&) = delete;
  store_admin& operator=(const store_admin&) = delete;
  virtual ~store_admin() = default;

  /// All rows that are owned or stay closed, by key. One round trip, and a scan of the table: for
  /// people, not for programs.
  std::vector<row_state> list();
  /// Takes the row away from its holder, or opens one that stays closed: unsets it, moves its
  /// version, and writes the reason into it. What the holder asks for afterwards is lost. One round
  /// trip; one more when nothing was released.
  force_answer force_release(const force_request& request);
  /// Deletes idle rows, going through the keys in their order: rows that are unowned, neither
  /// closed nor remembered as done, not locked, and whose version is older than `older_than` by the
  /// clock. Not `type#0` while any of `type#1` to `type#1000` with its source id is left: it says
  /// how many of them there are. One that is needed again is created with a version greater than
  /// the one that was deleted, as long as the database's clock does not go back by that time. One
  /// round trip.
  purge_answer purge(const purge_request& request);
  /// Settings of the database that weaken a promise: a sentence each, which says what may go wrong
  /// and what to set. One round trip.
  std::vector<std::string> weak_settings();

 protected:
  virtual std::vector<row_state> do_list() = 0;
  virtual force_answer do_force_release(const force_request& request) = 0;
  virtual purge_answer do_purge(const purge_request& request) = 0;
  virtual std::vector<std::string> do_weak_settings() { return {}; }

  /// Of the process that made the store.
  [[nodiscard]] const detail::home_process& home() const noexcept { return home_; }

 private:
  detail::home_process home_;
};

/// One database's lock table. Each call is atomic per key and made in autocommit, at READ
/// COMMITTED, on the database's clock. Calls take spans, because a process renews all its leases at
/// once and because calls that meet may share a statement; answers stand in the order of the
/// requests. Where two requests of one call name the same key, at most one of them is granted.
///
/// The public members are the door: they require the process that made the store, check every
/// request (`misuse`), split calls that are longer than `limits` allow, and then call the virtual
/// of their name. A store overrides the virtuals; requests that reach them are checked, and not
/// empty. Of a change that was split, a part of which fails as `unavailable` after another one was
/// made, the outcome is unknown.
///
/// What each call does, by the state in which it finds the row (the conformance suite has a test
/// for each cell):
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
/// * and `took_over_expired`.
///
/// `closed` is an unowned row that was released to stay closed and still does: acquire finds it as
/// if it were another's live lease, and to the others it is unowned. Where work is remembered as
/// done, acquire with `unless_done` answers done, before held and busy, unless the row is live and
/// mine; to everything else it makes no difference.
/// `mine` is the request's owner; renew and release are `mine` only with the version as well.
/// The version moves at grant and at release, never at renewal. A refusal of an existing row
/// changes nothing. No call waits behind another transaction's row lock (SQLite: for the file's one
/// writer, at most `turn_timeout`).
///
/// Errors: `unavailable` (nothing happened), `outcome_unknown` (asking again with the same
/// arguments is safe for every call here), `rejected`, `misuse`. Contention is never an error.
///
/// After fork() a store belongs to the parent. In the child every call throws `misuse`, and its
/// destructor touches neither connections nor locks that the two share: what it had there stays
/// until the child ends. Make a new store in the child.
///
/// Thread-safety: all members may be called from any thread.
class store : public store_admin {
 public:
  /// Each by itself: one round trip for an existing row that is granted, and one more to see why
  /// one was not (on PostgreSQL none where one key was asked for and another one has it, and two
  /// for a row that is busy). Two more for a missing row, three if another process creates it at
  /// that moment. Two more for a grant that was made already.
  ///
  /// All or none, in one statement: if one would not be granted alone, nothing changes, those that
  /// would be are `withheld`, and the others say why. Two sets that cross at the same moment may
  /// both be refused (busy); neither waits. One round trip if all rows exist and are free, or
  /// belong to the same owners already; two to see why not; three more for missing rows, which are
  /// created and stay.
  ///
  /// Any: those that are free, first those that exist, in the order of the requests. The others are
  /// `withheld`; no statement asks why. Of the same attempt once more, what it was granted before
  /// comes first. One round trip if enough rows exist and are free, else two.
  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests,
                                      acquire_mode mode = {});
  /// One round trip; one more when a row was not renewed.
  std::vector<change_answer> renew(std::span<const renew_request> requests);
  /// One round trip; one more when a row was not released.
  std::vector<change_answer> release(std::span<const release_request> requests);
  /// As release, and at once as acquire for the next one: no other caller gets in between, and
  /// nothing is announced. After `outcome_unknown` acquire for the next one. One round trip; one
  /// more when the row was not handed off. (The default makes two calls, and another caller may get
  /// in between.)
  handoff_answer handoff(const handoff_request& request);
  /// Writes a note into the row of a lease that is held as renew (o, v) would find it. One round
  /// trip; one more when it was not written.
  change_answer write_note(const note_request& request);
  /// None for a missing row. One round trip.
  ///
  /// `ready_to_commit` creates what is missing and unsets leases that have run out (their version
  /// moves, `expiry_count` goes up): without this, a late holder and an optimistic commit could
  /// both succeed. Rows it cannot get at without waiting stay as they are. Two round trips more
  /// where there is something to do.
  ///
  /// `watched` is for waiters: it marks the rows that are held, for five seconds at least, so that
  /// their release is announced to those who `listen`. (The one thing that a refused attempt may
  /// change, and only if it waits.) Every few seconds one round trip more.
  ///
  /// `shown` is for people: it adds which session has the row locked, since when, as far as the
  /// database shows it to this role; it may be over when it is read. One round trip more a row.
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys,
                                             read_mode mode = read_mode::committed);
  /// Notifies `listener`, which must outlive the subscription as the store must, of releases and
  /// grants of watched rows. Hints may be lost, and be wrong. Null: this store announces nothing.
  /// No round trip: listening begins, and begins again after a failure, in the background. The end
  /// of a subscription waits for no answer, but for a connection that is coming about.
  std::unique_ptr<subscription> listen(release_listener& listener);
  /// No round trip.
  [[nodiscard]] store_limits limits() const noexcept { return do_limits(); }

 protected:
  virtual std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                                 acquire_mode mode) = 0;
  virtual std::vector<change_answer> do_renew(std::span<const renew_request> requests) = 0;
  virtual std::vector<change_answer> do_release(std::span<const release_request> requests) = 0;
  virtual handoff_answer do_handoff(const handoff_request& request);
  virtual change_answer do_write_note(const note_request& request) = 0;
  virtual std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                        read_mode mode) = 0;
  virtual std::unique_ptr<subscription> do_listen(release_listener& /*listener*/) {
    return nullptr;
  }
  [[nodiscard]] virtual store_limits do_limits() const noexcept { return {}; }

 private:
  friend class passing_store;
};

}  // namespace rowlock

#endif
