// The result of an attempt: a value, or a refusal with its reason.
#ifndef ROWLOCK_OUTCOME_HPP
#define ROWLOCK_OUTCOME_HPP

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock {

struct done_mark {
  /// The grant under which the work was done; 0 if unknown, for instance if written by hand.
  version by;
  /// Database clock, UTC, `2026-01-31 12:00:00.000000`.
  std::string at = {};
  /// How much longer the row remembers it.
  std::chrono::microseconds remaining{};
};

/// A request to the holder of a key to yield it. Nothing is taken away.
struct ask_mark {
  /// The label of the one that asked last, for people.
  std::string by = {};
  std::string reason = {};
  /// Database clock, UTC, `2026-01-31 12:00:00.000000`.
  std::string at = {};
};

enum class ask_result {
  asked,
  free,  ///< No lease has the key.
  busy,  ///< Another transaction has the row, or its holders change: try again.
};

enum class refusal_reason {
  held,       ///< A live lease has the key, or it is closed after one: see `holder`, `remaining`.
  busy,       ///< A transaction has the row (on SQLite, the file) right now; it has no label.
  stale,      ///< The version has moved since it was read, or a concurrent transaction won.
  timed_out,  ///< Still held or busy when the wait was over.
  stopped,    ///< A stop was requested during the wait.
  already_done,  ///< The work is remembered as done: see `done`.
  missing,       ///< There is no such row of the application.
  deadlock,      ///< For a row of the application: two transactions waited for each other, and the
                 ///< database ended this wait. Roll back and begin again.
};

/// Contention, as a value: nothing was changed, and no callback ran.
struct refusal {
  refusal_reason reason = refusal_reason::held;
  /// The key; of several, the first that could not be had. For a row of the application: its table,
  /// and the parts of its id as `source_id_of` joins them.
  lock_key key = {};
  /// The holder's label, for people; empty if the row has none.
  std::string holder = {};
  /// What is left of the holder's lease, by the database's clock.
  std::optional<std::chrono::microseconds> remaining = std::nullopt;
  /// The row's version now, if the attempt read one.
  std::optional<rowlock::version> current = std::nullopt;
  /// Set for `already_done`.
  std::optional<done_mark> done = std::nullopt;
};

/// For people: `invoice/42 is held by host:4711, 12.5 s of its lease left`.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const refusal& shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, refusal_reason shown);
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, ask_result shown);

namespace detail {
[[noreturn]] ROWLOCK_EXPORT void throw_refused_outcome_was_used();
[[noreturn]] ROWLOCK_EXPORT void throw_acquired_outcome_has_no_refusal();
}  // namespace detail

/// Either acquired, with the result of the work, or refused, with a reason. Does not convert to
/// bool, since an `outcome<bool>` could be read two ways.
template <class T>
class [[nodiscard]] outcome {
 public:
  /*implicit*/ outcome(T value, bool kept = true)  // NOLINT(google-explicit-constructor)
      : state_{std::in_place_index<0>, std::move(value)}, kept_{kept} {}
  /*implicit*/ outcome(rowlock::refusal refused)  // NOLINT(google-explicit-constructor)
      : state_{std::in_place_index<1>, std::move(refused)} {}

  [[nodiscard]] bool acquired() const noexcept { return state_.index() == 0; }

  /// False if the key was lost, or its release is in doubt, before the end of the work was
  /// recorded: other holders may have run meanwhile. The value is still there. See `lease::release`
  /// for work that released the row in its own transaction.
  [[nodiscard]] bool kept() const noexcept { return acquired() && kept_; }

  /// Throws `error` (misuse) if refused: check `acquired()` first.
  [[nodiscard]] T& operator*() & { return (check(), std::get<0>(state_)); }
  [[nodiscard]] const T& operator*() const& { return (check(), std::get<0>(state_)); }
  [[nodiscard]] T&& operator*() && { return (check(), std::get<0>(std::move(state_))); }
  [[nodiscard]] T* operator->() { return &**this; }
  [[nodiscard]] const T* operator->() const { return &**this; }

  /// Throws `error` (misuse) if acquired.
  [[nodiscard]] const rowlock::refusal& refusal() const {
    if (acquired()) detail::throw_acquired_outcome_has_no_refusal();
    return std::get<1>(state_);
  }

 private:
  void check() const {
    if (!acquired()) detail::throw_refused_outcome_was_used();
  }

  std::variant<T, rowlock::refusal> state_;
  bool kept_ = true;
};

template <>
class [[nodiscard]] outcome<void> {
 public:
  explicit outcome(bool kept) : kept_{kept} {}
  /*implicit*/ outcome(rowlock::refusal refused)  // NOLINT(google-explicit-constructor)
      : refusal_{std::move(refused)} {}

  [[nodiscard]] bool acquired() const noexcept { return !refusal_.has_value(); }
  [[nodiscard]] bool kept() const noexcept { return acquired() && kept_; }
  [[nodiscard]] const rowlock::refusal& refusal() const {
    if (acquired()) detail::throw_acquired_outcome_has_no_refusal();
    return *refusal_;
  }

 private:
  std::optional<rowlock::refusal> refusal_;
  bool kept_ = true;
};

/// The result of a compare-and-set inside a transaction.
enum class [[nodiscard]] commit_result{
    committed,  ///< The version has moved; this counts when the transaction commits.
    /// The row has changed since it was read, or is missing. Roll back; the next read shows which.
    stale,
};

/// For people: `committed`.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, commit_result shown);

}  // namespace rowlock

#endif
