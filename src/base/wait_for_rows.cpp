// The waiting of pessimistic mode, and what its callback may not do.
#include <algorithm>
#include <chrono>

#include "base/pause.hpp"
#include "rowlock/error.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock::detail {

std::optional<refusal> wait_for_rows(
    const retry_policy& wait,
    const std::function<std::optional<refusal>(std::chrono::milliseconds slice)>& try_once) {
  using std::chrono::milliseconds;
  // Inside a slice nothing can be stopped, and its end gives up a place in the database's queue.
  // Each try of a limited number waits as long as a pause might.
  const milliseconds longest_slice{wait.stop.stop_possible() || wait.attempts ? 1000 : 10'000};
  backoff pauses{wait};
  for (;;) {
    milliseconds slice = longest_slice;
    if (pauses.is_last_try()) slice = milliseconds::zero();
    if (const auto left = pauses.remaining()) {
      slice = std::min(slice, std::chrono::ceil<milliseconds>(*left));
    }
    auto refused = try_once(slice);
    if (!refused || refused->reason == refusal_reason::stale) return refused;
    const auto verdict = pauses.pause(next_chance(*refused));
    if (verdict != backoff::verdict::again) return given_up(*std::move(refused), verdict, pauses);
  }
}

void throw_commit_in_callback() {
  throw error{errc::misuse,
              "the transaction is committed when the callback returns: do not commit it there; to "
              "roll back, throw, or abort() and return"};
}

}  // namespace rowlock::detail
