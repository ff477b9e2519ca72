// The usual policies.
#include "rowlock/retry_policy.hpp"

#include <utility>

namespace rowlock {

retry_policy no_wait() { return {.attempts = 1}; }

retry_policy wait_for(std::chrono::milliseconds duration, std::stop_token stop) {
  return {.give_up_after = duration, .stop = std::move(stop)};
}

retry_policy wait_until_stopped(std::stop_token stop) { return {.stop = std::move(stop)}; }

retry_policy wait_forever() { return {}; }

}  // namespace rowlock
