// What an attempt came to: a value, or a refusal.
#ifndef ROWLOCK_OUTCOME_HPP
#define ROWLOCK_OUTCOME_HPP

#include <optional>
#include <utility>
#include <variant>

#include "rowlock/refusal.hpp"

namespace rowlock {

namespace detail {
[[noreturn]] void throw_refused_outcome_was_used();
[[noreturn]] void throw_acquired_outcome_has_no_refusal();
}  // namespace detail

/// Either acquired, with what the work returned, or refused, with the reason. There is no
/// conversion to bool: for an `outcome<bool>` it could be read two ways.
template <class T>
class [[nodiscard]] outcome {
 public:
  /*implicit*/ outcome(T value, bool kept = true)  // NOLINT(google-explicit-constructor)
      : state_{std::in_place_index<0>, std::move(value)}, kept_{kept} {}
  /*implicit*/ outcome(rowlock::refusal refused)  // NOLINT(google-explicit-constructor)
      : state_{std::in_place_index<1>, std::move(refused)} {}

  [[nodiscard]] bool acquired() const noexcept { return state_.index() == 0; }

  /// False when the key was lost, or its release is in doubt, before the end of the work was
  /// recorded: others may have run meanwhile. The value is there all the same. (Of a release with a
  /// transaction of the work's own: `lease::release`.)
  [[nodiscard]] bool kept() const noexcept { return acquired() && kept_; }

  /// The value. Throws `error` (misuse) when refused: ask `acquired()` first.
  [[nodiscard]] T& operator*() & { return (check(), std::get<0>(state_)); }
  [[nodiscard]] const T& operator*() const& { return (check(), std::get<0>(state_)); }
  [[nodiscard]] T&& operator*() && { return (check(), std::get<0>(std::move(state_))); }
  [[nodiscard]] T* operator->() { return &**this; }
  [[nodiscard]] const T* operator->() const { return &**this; }

  /// The reason. Throws `error` (misuse) when acquired.
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

/// Of work that returns nothing.
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

}  // namespace rowlock

#endif
