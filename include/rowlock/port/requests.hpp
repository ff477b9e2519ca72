// Requests to a store, and its answers.
#ifndef ROWLOCK_PORT_REQUESTS_HPP
#define ROWLOCK_PORT_REQUESTS_HPP

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock {

/// Identifies one attempt to acquire, so that an attempt whose answer was lost can be sent again
/// and recognise its own grant. A capability: any caller that has it can renew and release, so it
/// is never shown. The holder label is for people.
struct owner_id {
  /// 128 random bits as 32 hexadecimal digits.
  std::string text;

  friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

/// A new id from the kernel's random source. Safe after fork.
ROWLOCK_EXPORT owner_id make_owner_id();

struct acquire_request {
  lock_key key;
  /// One for each attempt. Use it again only to retry after an unknown outcome.
  owner_id owner;
  /// The label of the holder, for people; at most 128 bytes.
  std::string holder;
  std::chrono::microseconds ttl{};
  /// Compare-and-set: grant only if the row is unowned and still at this version.
  std::optional<version> expected = std::nullopt;
  /// Grant only if the row does not remember its work as done.
  bool unless_done = false;
  /// The holder's name for its work in its own logs; at most 128 bytes. The row shows it.
  std::string correlation_id = {};
  /// Do not wait even for a transaction that takes the row in the microseconds between search and
  /// write: for threads that serve other keys too. Costs PostgreSQL more.
  bool never_waits = false;
};

enum class acquire_status {
  granted,
  held,      ///< Another holder's lease, or closed for a while after one.
  busy,      ///< A transaction has the row.
  stale,     ///< Not at the expected version.
  done,      ///< The work is remembered as done.
  withheld,  ///< One of several: not granted, without a reason.
};

struct acquire_answer {
  acquire_status status = acquire_status::busy;
  /// The new version if granted, otherwise the row's version if the call read it.
  std::optional<rowlock::version> version = std::nullopt;
  /// The present holder's label if held, the former one's if taken over. For people.
  std::string holder = {};
  /// What is left of that lease, by the database's clock. Zero or less if taken over.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  /// Set when the status is `done`.
  std::optional<done_mark> done = std::nullopt;
  /// The grant took over another owner's lease that had run out. A hint: it may be false if the
  /// lease ran out during the call, or if an earlier call of the same attempt made the grant.
  bool took_over_expired = false;
};

/// How the requests of one call belong together.
struct acquire_mode {
  enum kind {
    each,         ///< Each is granted or refused by itself.
    all_or_none,  ///< If one cannot be granted, none is.
    any,          ///< At most `limit` of them, whichever are free.
  } how = each;
  std::size_t limit = 0;  ///< Used with `any`.
};

enum class read_mode {
  committed,        ///< The committed state.
  ready_to_commit,  ///< First creates missing rows and unsets leases that ran out, for a commit.
  watched,          ///< Marks held rows, so that their release is announced.
  shown,            ///< Adds the transaction that has the row, for people: `row_state::used_by`.
};

struct renew_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// The new ttl, from the moment the database executes the renewal.
  std::chrono::microseconds ttl{};
};

/// The answer to a renewal, a release, a handoff, a note or a request to yield.
enum class change_answer {
  done,
  busy,  ///< A transaction has the row.
  lost,  ///< The row does not belong to this owner at this version.
};

struct release_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// The callback threw: the release raises `failure_count`.
  bool failed = false;
  /// How long no owner is granted the row after the release; at most 24 hours.
  std::chrono::microseconds stay_closed{};
  /// How long to remember the work as done, under `version`; at most ten years.
  std::optional<std::chrono::microseconds> done_for = std::nullopt;
  /// The answer waits until the release is on the disk: see `lock_options::durable_release`. Always
  /// so for a row that stays closed or is remembered as done.
  bool durable = false;
  /// As in `acquire_request`.
  bool never_waits = false;
};

/// A release, and the grant to a waiter for the same key, in one call.
struct handoff_request {
  /// Must neither keep the row closed nor remember its work as done.
  release_request ended;
  /// For the same key, without `expected` and `unless_done`.
  acquire_request next;
};

struct handoff_answer {
  change_answer ended = change_answer::busy;
  /// The version of the waiter's grant. None: no handoff; after a release the waiter must acquire.
  std::optional<version> granted = std::nullopt;
};

/// How an unowned row was given up. Times are by the database's clock, in UTC.
struct last_use {
  /// The last holder's label; empty if a transaction used the row after it.
  std::string holder = {};
  /// `2026-01-31 12:00:00.000000`; empty if a transaction used the row.
  std::string from = {};
  std::string until = {};
  /// `released`; `failed`: released, and the callback threw; `forced`: taken away; `ran out`: the
  /// lease had run out when the row was found. `locked`, `committed`: by a transaction, which may
  /// have committed later than `until`. Programs that write to the table may leave any other text.
  std::string how = {};
  /// How long the holder had it.
  std::optional<std::chrono::microseconds> held_for = std::nullopt;
};

struct row_state {
  lock_key key;
  rowlock::version version;
  /// An owner is in the row, whether or not its lease has run out.
  bool owned = false;
  /// The holder's label; for a closed row, the last holder's.
  std::string holder = {};
  /// Database clock, UTC, `2026-01-31 12:00:00.000000`; empty when the row is unowned.
  std::string acquired_at = {};
  /// If owned, the time since then.
  std::optional<std::chrono::microseconds> held_for = std::nullopt;
  /// If owned, how long the last grant or renewal lasts; none if the row was written by hand.
  std::optional<std::chrono::microseconds> ttl = std::nullopt;
  /// If owned, the holder's name for its work.
  std::string correlation_id = {};
  /// If owned, what is left of the lease; zero or less if run out. If closed, until it opens.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  std::int64_t failure_count = 0;
  std::int64_t expiry_count = 0;
  /// A holder's note for others to read; it stays until another note is written.
  std::string note = {};
  /// If owned, the last request to its holder to yield; none if there was none.
  std::optional<ask_mark> asked = std::nullopt;
  /// Set while the work is remembered as done.
  std::optional<done_mark> done = std::nullopt;
  /// Why, when and from whom the row was last taken by force.
  std::string force_reason = {};
  std::string forced_at = {};
  std::string forced_from = {};
  /// If unowned and used before: by whom, and until when.
  std::optional<last_use> last = std::nullopt;
  /// A process waits for the row, or did up to ten seconds ago. Never set by a store whose waiters
  /// leave no mark: see `read_mode::watched`.
  bool is_waited_for = false;
  /// Set only by `read_mode::shown`: the transaction that has the row, described for people. None:
  /// there is none, as far as the database shows it.
  std::optional<std::string> used_by = std::nullopt;

  /// No other owner is granted the row now: its lease has not run out, or it stays closed.
  [[nodiscard]] bool is_live() const {
    return remaining && *remaining > std::chrono::microseconds::zero();
  }
  /// If owned, the time since the lease was last granted or renewed.
  [[nodiscard]] std::optional<std::chrono::microseconds> silent_for() const {
    if (!owned || !ttl || !remaining) return std::nullopt;
    return *ttl - *remaining;
  }
  /// If owned, more is left of the lease than it lasts: the database's clock was set back after the
  /// grant, and the row stays taken until that clock has caught up. By more than a minute, as far
  /// as the clocks of one database's servers may differ.
  [[nodiscard]] bool has_clock_fault() const {
    const auto silent = silent_for();
    return silent && *silent < -std::chrono::minutes{1};
  }
};

struct note_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// At most 1,024 bytes of UTF-8 without NUL; empty removes the last one.
  std::string note;
};

/// A request to the holder of a key to yield it.
struct ask_request {
  lock_key key;
  /// That of the holder's grant, as it was read.
  rowlock::version version;
  /// A label for people; at most 128 bytes of UTF-8 without NUL.
  std::string by;
  /// 1 to 1,024 bytes of UTF-8 without NUL.
  std::string reason;
};

struct force_request {
  lock_key key;
  /// The version to take away, as it was read.
  rowlock::version version;
  /// Why, and by whom, for people; 1 to 1,024 bytes of UTF-8 without NUL.
  std::string reason;
};

enum class force_answer {
  released,
  busy,   ///< A transaction has the row, for instance a fenced one.
  stale,  ///< Missing, at another version, or free.
};

/// For people: `released`.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, force_answer shown);

struct purge_request {
  /// Continue after this key; none: from the start.
  std::optional<lock_key> after = std::nullopt;
  /// Delete rows not touched for this long; at least an hour.
  std::chrono::microseconds older_than{};
  /// The most rows to examine; 1 to 10,000.
  std::size_t limit = 1000;
};

struct purge_answer {
  std::size_t purged = 0;
  /// The key to continue after; none: all rows were examined.
  std::optional<lock_key> last = std::nullopt;
  /// Idle rows that the database refused to delete, for instance because of a foreign key. All
  /// others were deleted.
  std::vector<lock_key> refused = {};
};

/// Which rows `store_admin::list` returns. All are owned or closed.
enum class row_filter {
  any,
  held,     ///< With a lease that has not run out.
  run_out,  ///< Owned, with a lease that has run out.
  closed,   ///< Unowned, but not granted yet.
};

/// Ties are in key order.
enum class row_order {
  key,
  age,        ///< The longest held first; closed rows last.
  remaining,  ///< The least left first, of the lease or until a closed row opens.
};

struct list_request {
  /// The key's type, with its scope and number if any. None: every type.
  std::optional<std::string> type = std::nullopt;
  /// The holder's label; for a closed row, the last holder's. Compared byte by byte.
  std::optional<std::string> holder = std::nullopt;
  row_filter state = row_filter::any;
  row_order sort = row_order::key;
  /// Continue after this key, which need not exist; `row_order::key` only. None: from the start.
  std::optional<lock_key> after = std::nullopt;
  /// The most rows, 1 to 10,000. None: all rows, in the caller's memory.
  std::optional<std::size_t> limit = std::nullopt;
};

/// An event of the history of a lock table, which is optional: see `history_option`. Times are by
/// the database's clock, UTC, `2026-01-31 12:00:00.000000`.
struct lock_event {
  lock_key key;
  std::string at = {};
  /// `granted`. The end of a hold: `released`, `failed`, `handed over`, `forced`, `ran out` (when
  /// found); with it `closed`, `done`. By a transaction: `locked`, `committed`.
  std::string what = {};
  /// Of the row, after the event.
  rowlock::version version;
  /// Of the hold.
  std::optional<rowlock::version> token = std::nullopt;
  /// The holder's label; for a transaction, its session, if the database knows it.
  std::string holder = {};
  /// When the hold began and ended, or for how long the row stays closed or done.
  std::string since = {};
  std::string until = {};
  std::optional<std::chrono::microseconds> held_for = std::nullopt;
  std::string reason = {};
  std::string correlation_id = {};
};

using database_time = std::chrono::sys_time<std::chrono::microseconds>;

/// Which events, newest first; only those before `before`, if it is given.
struct history_request {
  /// The key's type, with its scope and number if any.
  std::optional<std::string> type = std::nullopt;
  std::optional<std::string> source_id = std::nullopt;
  std::optional<std::string> holder = std::nullopt;
  std::optional<std::string> what = std::nullopt;
  /// `since` and `until` are inclusive, in the years 1970 to 9999.
  std::optional<database_time> since = std::nullopt;
  std::optional<database_time> until = std::nullopt;
  /// The last event of the previous page.
  std::optional<lock_event> before = std::nullopt;
  /// The most events, 1 to 10,000.
  std::size_t limit = 1000;
};

struct history_page {
  /// Fewer than `limit`: there are no more.
  std::vector<lock_event> events;
  /// The database has a history.
  bool is_recorded = false;
  /// It was ended: newer events are missing. Never set on MariaDB and MySQL.
  bool is_ended = false;
};

struct history_purge_request {
  /// Delete events older than this; at least an hour.
  std::chrono::microseconds older_than{};
  /// The most events in one transaction; 1 to 10,000.
  std::size_t limit = 1000;
};

/// A database and its lock table, as the store's role finds them: see `store_admin::inspect`.
struct inspection {
  enum class use {
    lock,    ///< Leases, row locks and commits.
    fence,   ///< Only fences, of leases that other roles hold.
    list,    ///< `list`, `read` and `shown`.
    purge,   ///< `purge`.
    record,  ///< Events of its own changes in an existing history.
  };
  struct missing_right {
    use needed_for = use::lock;
    /// For people: `INSERT on "app"."shared_lock"`.
    std::string right;
  };
  /// `PostgreSQL`, `SQLite`, `MariaDB` or `MySQL`; empty: no SQL database.
  std::string product = {};
  /// `15, 18`.
  std::vector<int> version = {};
  /// The number of the last migration applied. None: there is no table, or it cannot be read.
  std::optional<int> schema = std::nullopt;
  /// None: there is no table, or its rights cannot be read.
  std::optional<std::vector<missing_right>> missing_rights = std::nullopt;
  /// The most connections of this role, user or database at once. None: only the server's is known.
  std::optional<int> connection_limit = std::nullopt;
};

/// `store` calls these for every request before it sends anything. They throw `error` (misuse) for
/// an invalid key, a ttl of zero or less or above 24 hours, and a holder label or correlation id
/// above 128 bytes, with a NUL byte or not in UTF-8.
ROWLOCK_EXPORT void check(const acquire_request& request);
ROWLOCK_EXPORT void check(const renew_request& request);
ROWLOCK_EXPORT void check(const release_request& request);
/// Also misuse: two different keys, and what handoff_request rules out.
ROWLOCK_EXPORT void check(const handoff_request& request);
ROWLOCK_EXPORT void check(const note_request& request);
ROWLOCK_EXPORT void check(const ask_request& request);
ROWLOCK_EXPORT void check(const force_request& request);
ROWLOCK_EXPORT void check(const purge_request& request);
ROWLOCK_EXPORT void check(const list_request& request);
ROWLOCK_EXPORT void check(const history_request& request);
ROWLOCK_EXPORT void check(const history_purge_request& request);
/// For `all_or_none` and `any`, also misuse: above 1,000 requests, and two for one key.
ROWLOCK_EXPORT void check_set(std::span<const acquire_request> requests);

inline constexpr std::chrono::hours longest_ttl{24};
/// The most keys of one set.
inline constexpr std::size_t largest_set = 1000;
/// The most rows of one page.
inline constexpr std::size_t largest_page = 10'000;

}  // namespace rowlock

#endif
