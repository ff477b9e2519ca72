// What a store is asked, and what it answers.
#ifndef ROWLOCK_PORT_REQUESTS_HPP
#define ROWLOCK_PORT_REQUESTS_HPP

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock {

/// Tells one attempt to acquire from every other one, so that an attempt whose answer got lost can
/// be asked again and recognises its own grant. It is a capability: whoever knows it can renew and
/// release, so it is never shown. For people there is the holder label.
struct owner_id {
  /// 128 random bits as 32 hexadecimal digits.
  std::string text;

  friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

/// A fresh id from the kernel's random source. Safe after fork.
owner_id make_owner_id();

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

/// How the requests of one call belong together.
struct acquire_mode {
  enum kind {
    each,         ///< Each is granted or refused by itself.
    all_or_none,  ///< One that cannot be granted withholds all.
    any,          ///< `at_most` of them, whichever are free.
  } how = each;
  std::size_t at_most = 0;  ///< Of `any`.
};

enum class read_mode {
  committed,        ///< The committed state.
  ready_to_commit,  ///< Rows made fit to be committed against, then their state.
  watched,          ///< Held rows are marked, so that their release is announced.
  shown,            ///< With the transaction that has the row, for people: `row_state::used_by`.
};

struct renew_request {
  lock_key key;
  owner_id owner;
  rowlock::version version;
  /// Counted anew from the moment the database executes the renewal.
  std::chrono::microseconds ttl{};
};

/// Of a renewal, a release, a note.
enum class change_answer {
  done,
  busy,  ///< A transaction has the row.
  lost,  ///< The row is not, or no longer, this owner's at this version.
};

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

/// A release, and the grant to one who has waited for it, in one.
struct handoff_request {
  /// The row neither stays closed nor is its work remembered as done.
  release_request ended;
  /// Of the same key; expects no version.
  acquire_request next;
};

struct handoff_answer {
  change_answer ended = change_answer::busy;
  /// Of the grant to the next one. None: the row was not handed over; if it is released, the next
  /// one has to ask for it.
  std::optional<version> granted = std::nullopt;
};

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
  /// Of `read_mode::shown` alone: the transaction that has the row, in words for people. None:
  /// there is none, as far as the database shows it.
  std::optional<std::string> used_by = std::nullopt;

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

/// For people: `released`.
std::ostream& operator<<(std::ostream& out, force_answer shown);

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

/// `store` calls these for every request, before anything is sent. They throw `error` (misuse) for
/// a wrong key, a ttl of zero or less or above 24 hours, a holder label above 128 bytes, with a NUL
/// byte or not in UTF-8.
void check(const acquire_request& request);
void check(const renew_request& request);
void check(const release_request& request);
/// Two keys, and what handoff_request says, are misuse, too.
void check(const handoff_request& request);
void check(const note_request& request);
void check(const force_request& request);
void check(const purge_request& request);
/// Of `all_or_none` and `any`: above 1,000 requests and two of one key are misuse, too.
void check_set(std::span<const acquire_request> requests);

/// The longest ttl.
inline constexpr std::chrono::hours longest_ttl{24};
/// The most keys of one set.
inline constexpr std::size_t largest_set = 1000;

}  // namespace rowlock

#endif
