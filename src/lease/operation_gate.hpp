// Operations that use the store, and the wait for their end.
#ifndef ROWLOCK_LEASE_OPERATION_GATE_HPP
#define ROWLOCK_LEASE_OPERATION_GATE_HPP

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace rowlock::detail {

/// Counts the operations under way. Once it is closed, none begins.
///
/// Thread-safety: all members may be called from any thread.
class operation_gate {
 public:
  /// While it exists, `await_last` does not return.
  class guard {
   public:
    explicit guard(operation_gate& entered) noexcept : gate_{&entered} {}
    guard(guard&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)} {}
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    operation_gate* gate_;
  };

  /// Returns nothing once closed.
  [[nodiscard]] std::optional<guard> enter() noexcept {
    auto seen = state_.load();
    do {
      if ((seen & closed) != 0) return std::nullopt;
    } while (!state_.compare_exchange_weak(seen, seen + 1));
    return std::optional<guard>{std::in_place, *this};
  }

  void close() noexcept { state_ |= closed; }
  /// Waits until all operations have ended. To be called after `close`.
  void await_last() const noexcept {
    for (auto seen = state_.load(); seen != closed; seen = state_.load()) state_.wait(seen);
  }

 private:
  static constexpr std::uint32_t closed = std::uint32_t{1} << 31U;

  void leave() noexcept {
    if (--state_ == closed) state_.notify_all();
  }

  std::atomic<std::uint32_t> state_{0};  // number of operations, and whether closed
};

}  // namespace rowlock::detail

#endif
