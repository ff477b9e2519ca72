// The port between the locking rules and a database.
#ifndef ROWLOCK_STORE_HPP
#define ROWLOCK_STORE_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/done_mark.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/owner_id.hpp"
#include "rowlock/version.hpp"

namespace rowlock {

struct acquire_request {
  lock_key key;
  /// One per attempt; the same again only to ask once more after an unknown outcome.
  owner_id owner;
  /// For people; at most 128 bytes.
  std::string holder;
  std::chrono::microseconds ttl{};
  /// Compare-and-set: grant only if the row is unowned and still has this version.
  std::optional<version> expected = std::nullopt;
  /// Grant only if the row does not remember its work as done.
  bool unless_done = false;
};

enum class acquire_status {
  granted,
  held,      ///< Somebody's lease, or closed for a while after one.
  busy,      ///< A transaction has the row.
  stale,     ///< Not at the expected version.
  done,      ///< The work is remembered as done.
  withheld,  ///< One of several: not granted, and nothing about this row says why.
};

struct acquire_answer {
  acquire_status status = acquire_status::busy;
  /// Granted: the new version. Otherwise the row's version, where a row was seen.
  std::optional<rowlock::version> version = std::nullopt;
  /// Held: who, for people. Taken over: who had it.
  std::string holder = {};
  /// Held: what is left, by the database's clock; taken over: the same, so zero or less.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  /// Of `done`.
  std::optional<done_mark> done = std::nullopt;
  /// Granted over another owner's lease that had run out. A hint: it may be missing for one that
  /// ran out during the call, or whose grant was made by an earlier call of the same attempt.
  bool took_over_expired = false;
};

struct renew_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// Counted anew from the moment the database executes the renewal.
  std::chrono::microseconds ttl{};
};

enum class renew_answer { renewed, busy, lost };

struct release_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// The callback threw: `failure_count` goes up with the release.
  bool failed = false;
  /// Nobody is granted the row for so long after the release; at most 24 hours.
  std::chrono::microseconds stay_closed{};
  /// Remember the work as done, under `version`, for so long; at most ten years.
  std::optional<std::chrono::microseconds> done_for = std::nullopt;
};

enum class release_answer { released, busy, lost };

/// A row as it was read.
struct row_state {
  lock_key key;
  rowlock::version version;
  /// An owner is written in the row, whether or not its lease has run out.
  bool owned = false;
  /// Of an unowned row that stays closed: who had it.
  std::string holder = {};
  /// Database clock, UTC, `2026-01-31 12:00:00.000000`; empty when the row is unowned.
  std::string acquired_at = {};
  /// Of an owned row: what is left; zero or less when the lease has run out. Of an unowned one: how
  /// much longer it stays closed, if it does.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  std::int64_t failure_count = 0;
  std::int64_t expiry_count = 0;
  /// What a holder has written for others to read; it stays until another note is written.
  std::string note = {};
  /// While the work is remembered as done.
  std::optional<done_mark> done = std::nullopt;
  /// Why the row was taken from its holder, the last time that was done by force.
  std::string force_reason = {};

  /// Nobody else is granted the row now: a lease on it has not run out, or it stays closed.
  [[nodiscard]] bool is_live() const {
    return remaining && *remaining > std::chrono::microseconds::zero();
  }
};

struct note_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// At most 1,024 bytes of UTF-8 without NUL; empty takes the last one away.
  std::string note;
};

enum class note_answer { written, busy, lost };

struct force_request {
  lock_key key;
  /// The version that is to be taken away, as it was read.
  rowlock::version version;
  /// Why, and by whom, for people; 1 to 1,024 bytes of UTF-8 without NUL.
  std::string reason;
};

enum class force_answer {
  released,
  busy,   ///< A transaction has the row: one that is fenced, for instance.
  stale,  ///< Missing, at another version, or nobody's.
};

struct purge_request {
  /// Go on after this key; none: from the first.
  std::optional<lock_key> after = std::nullopt;
  /// Rows that nobody has touched for so long; at least an hour.
  std::chrono::microseconds older_than{};
  /// How many rows to look at; 1 to 10,000.
  std::size_t at_most = 1000;
};

struct purge_answer {
  std::size_t purged = 0;
  /// To go on after; none: all rows were looked at.
  std::optional<lock_key> last = std::nullopt;
};

/// Hears of releases. Called from any thread, one call at a time; must return soon.
class release_listener {
 public:
  release_listener() = default;
  release_listener(const release_listener&) = delete;
  release_listener& operator=(const release_listener&) = delete;
  virtual ~release_listener() = default;

  /// The key was released, perhaps: a hint, no more.
  virtual void released(const lock_key& key) noexcept = 0;
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

/// Every store calls these for every request, before anything is sent. They throw `error` (misuse)
/// for a wrong key, a ttl of zero or less or above 24 hours, a holder label above 128 bytes, with a
/// NUL byte or not in UTF-8.
void check(const acquire_request& request);
void check(const renew_request& request);
void check(const release_request& request);
void check(const note_request& request);
void check(const force_request& request);
void check(const purge_request& request);
/// Of `acquire_all` and `acquire_any`: above 1,000 requests and two of one key are misuse, too.
void check_set(std::span<const acquire_request> requests);

/// The longest ttl.
inline constexpr std::chrono::hours longest_ttl{24};
/// The most keys of one set.
inline constexpr std::size_t largest_set = 1000;

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

  /// One round trip for an existing row that is granted, and one more to see why one was not. Two
  /// more for a missing row, three if somebody else creates it at that moment. Two more for a grant
  /// that was made already.
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
  /// For one who waits: reads like `read`, and leaves word in the rows that are held, for ten
  /// seconds at least, so that their release is announced to those who `listen`. (The one thing
  /// that a refused attempt may change, and only if it waits.) One round trip, every few seconds
  /// one more.
  virtual std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys) {
    return read(keys);
  }
  /// Tells `listener`, which must outlive the subscription, of releases of rows that somebody
  /// watches. Hints may be lost, and be wrong. Null: this store announces nothing. No round trip:
  /// listening begins, and begins again after a failure, in the background.
  virtual std::unique_ptr<subscription> listen(release_listener& /*listener*/) { return nullptr; }
  /// All rows that are owned or stay closed, by key. One round trip, and a scan of the table: for
  /// people, not for programs.
  virtual std::vector<row_state> list() = 0;
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
};

}  // namespace rowlock

#endif
