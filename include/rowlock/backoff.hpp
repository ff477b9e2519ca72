// Walks through a retry_policy: counts the tries and sleeps between them.
#ifndef ROWLOCK_BACKOFF_HPP
#define ROWLOCK_BACKOFF_HPP

#include <functional>
#include <memory>
#include <optional>

#include "rowlock/boot_clock.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/time_source.hpp"

namespace rowlock {

/// Made just before the first try. Throws `error` (misuse) for a policy that cannot be meant: zero
/// attempts, a pause of zero or less, a longest pause below the first.
///
/// Thread-safety: one thread at a time.
class backoff {
 public:
  enum class verdict {
    again,      ///< Slept; try once more.
    exhausted,  ///< The attempts or the time are used up.
    stopped,    ///< A stop was requested.
  };

  explicit backoff(retry_policy policy, std::shared_ptr<time_source> time = system_time());

  /// Called after a try that failed: sleeps if there is a next one, at most `at_most` where a
  /// better moment is known (a lease that runs out, say). The last try of a limited time is made at
  /// its end. `before` is called before the sleep with the number of that try and the pause; what
  /// it throws passes through.
  verdict pause(std::optional<boot_clock::duration> at_most = std::nullopt,
                const std::function<void(unsigned, boot_clock::duration)>& before = {});

  /// How long the tries may still go on; none means without limit.
  [[nodiscard]] std::optional<boot_clock::duration> remaining() const;

  /// Whether the policy allows time or another try at all.
  [[nodiscard]] bool is_patient() const noexcept;

  /// Whether there will be no try after the present one.
  [[nodiscard]] bool is_last_try() const;

 private:
  retry_policy policy_;
  std::shared_ptr<time_source> time_;
  boot_clock::time_point started_;
  boot_clock::duration last_pause_{};
  unsigned tries_ = 1;
};

}  // namespace rowlock

#endif
