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

/// One database's lock table. Each call is atomic per key and made in autocommit, at READ
/// COMMITTED, on the database's clock. Calls take spans, because a process renews all its leases at
/// once and because calls that meet may share a statement; answers stand in the order of the
/// requests. Where two requests of one call name the same key, at most one of them is granted.
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
///   run out,mine  | granted, new v     | stale (see prepare)      | renewed       | released
///   run out,other | granted, expiry+1* | stale (see prepare)      | lost          | lost
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
class store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  /// One round trip for an existing row that is granted, and one more to see why one was not (on
  /// PostgreSQL none where one key was asked for and another one has it, and two for a row that is
  /// busy). Two more for a missing row, three if somebody else creates it at that moment. Two more
  /// for a grant that was made already.
  virtual std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) = 0;
  /// All of the set or none, in one statement: as `acquire`, where each alone would be granted; if
  /// not, nothing changes, those that would be are `withheld`, and the others say why. Two sets
  /// that cross at the same moment may both be refused (busy); neither waits. One round trip if all
  /// rows exist and are free, or belong to the same owners already; two to see why not; three more
  /// for missing rows, which are created and stay.
  virtual std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests) = 0;
  /// Any of the set, but `at_most` so many: those that are free, first those that exist, in the
  /// order of the requests. Nobody looks at why the others are not granted: they are `withheld`. Of
  /// the same attempt once more, what it was granted before comes first. One round trip if enough
  /// rows exist and are free, else two.
  virtual std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                                  std::size_t at_most) = 0;
  /// One round trip; one more when a row was not renewed.
  virtual std::vector<renew_answer> renew(std::span<const renew_request> requests) = 0;
  /// One round trip; one more when a row was not released.
  virtual std::vector<release_answer> release(std::span<const release_request> requests) = 0;
  /// As release, and at once as acquire for the next one: nobody gets in between, and nothing is
  /// announced. After `outcome_unknown` ask acquire for the next one. One round trip; one more when
  /// the row was not handed over. (A store that does not override this makes two calls, and
  /// somebody may get in between.)
  virtual handoff_answer handoff(const handoff_request& request);
  /// Writes a note into the row of a lease that is held as renew (o, v) would find it. One round
  /// trip; one more when it was not written.
  virtual note_answer write_note(const note_request& request) = 0;
  /// The committed state; none for a missing row. One round trip.
  virtual std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) = 0;
  /// Makes rows fit to be committed against: creates what is missing and unsets leases that have
  /// run out (their version moves, `expiry_count` goes up). Without this, a late holder and an
  /// optimistic commit could both succeed. Rows it cannot get at without waiting stay as they are.
  /// Answers like `read`. One round trip where nothing is to do, else three.
  virtual std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) = 0;
  /// For one who waits: reads like `read`, and leaves word in the rows that are held, for five
  /// seconds at least, so that their release is announced to those who `listen`. (The one thing
  /// that a refused attempt may change, and only if it waits.) One round trip, every few seconds
  /// one more.
  virtual std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys) {
    return read(keys);
  }
  /// Tells `listener`, which must outlive the subscription as the store must, of releases and
  /// grants of rows that somebody watches. Hints may be lost, and be wrong. Null: this store
  /// announces nothing. No round trip: listening begins, and begins again after a failure, in the
  /// background. The end of a subscription waits for no answer, but for a connection that is coming
  /// about.
  virtual std::unique_ptr<subscription> listen(release_listener& /*listener*/) { return nullptr; }
  /// All rows that are owned or stay closed, by key. One round trip, and a scan of the table: for
  /// people, not for programs.
  virtual std::vector<row_state> list() = 0;
  /// The transaction that has the row of `key` (a row lock, a fence that is not committed), in
  /// words for people: which session, since when, as far as the database shows it to this role.
  /// None where there is no row, and where no transaction is seen to have it. A hint for people: it
  /// may be over when it is read. Neither waits nor writes. One round trip.
  virtual std::optional<std::string> used_by(const lock_key& /*key*/) { return std::nullopt; }
  /// Takes the row away from its holder, or opens one that stays closed: unsets it, moves its
  /// version, and writes the reason into it. What the holder asks for afterwards is lost. One round
  /// trip; one more when nothing was released.
  virtual force_answer force_release(const force_request& request) = 0;
  /// Deletes idle rows, going through the keys in their order: rows that are unowned, neither
  /// closed nor remembered as done, not locked, and whose version is older than `older_than` by the
  /// clock. Not `type#0` while any of `type#1` to `type#1000` with its source id is left: it says
  /// how many of them there are. One that is needed again is created with a version greater than
  /// the one that was deleted, as long as the database's clock does not go back by that time. One
  /// round trip.
  virtual purge_answer purge(const purge_request& request) = 0;
  /// Settings of the database that weaken a promise: a sentence each, which says what may go wrong
  /// and what to set. One round trip.
  virtual std::vector<std::string> weak_settings() { return {}; }
  /// How many statements get on side by side. More would wait for each other, and do better to
  /// travel together. No round trip.
  [[nodiscard]] virtual unsigned statements_at_once() const noexcept { return 4; }
  /// How many calls at once are better made by a statement that they share than by one each, side
  /// by side. No round trip.
  [[nodiscard]] virtual std::size_t sharing_pays_from() const noexcept { return 2; }
};

}  // namespace rowlock

#endif
