// Why a key was not acquired.
#ifndef ROWLOCK_REFUSAL_HPP
#define ROWLOCK_REFUSAL_HPP

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>

#include "rowlock/done_mark.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/version.hpp"

namespace rowlock {

enum class refusal_reason {
  held,       ///< A live lease has the key, or it stays closed for a while after one; `holder` and
              ///< `remaining` say whose and how long.
  busy,       ///< A transaction has the row (or, on SQLite, the file) right now; it has no name.
  stale,      ///< The version moved on since it was read, or a concurrent transaction won.
  timed_out,  ///< It was still held or busy when the wait was over.
  stopped,    ///< A stop was requested during the wait.
  already_done,  ///< The work is remembered as done; `done` says since when and by which grant.
};

/// Contention, as a value: nothing was changed and no callback ran.
struct refusal {
  refusal_reason reason = refusal_reason::held;
  /// The key in question; of several, the first that stood in the way.
  lock_key key = {};
  /// The label of the holder, for people; empty where the row does not know one.
  std::string holder = {};
  /// What is left of the holder's lease, by the database's clock.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  /// The row's version now, where one was seen.
  std::optional<rowlock::version> current = std::nullopt;
  /// Of `already_done`.
  std::optional<done_mark> done = std::nullopt;
};

/// For people: `invoice/42 is held by host:4711 for another 12.5 s`.
std::ostream& operator<<(std::ostream& out, const refusal& shown);
std::ostream& operator<<(std::ostream& out, refusal_reason shown);

}  // namespace rowlock

#endif
