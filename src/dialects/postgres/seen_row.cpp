// A row of the lock table, as a look or a list answers it.
#include "dialects/postgres/seen_row.hpp"

#include <chrono>
#include <utility>

namespace rowlock::postgres {

seen_row seen_in(const answer::row& found, lock_key key) {
  seen_row seen;
  row_state& state = seen.state;
  state.key = std::move(key);
  state.version = {found.number("version")};
  state.owned = !found.is_null("owner");
  state.failure_count = found.number("failure_count");
  state.expiry_count = found.number("expiry_count");
  if (state.owned) {
    seen.owner = found.text("owner");
    state.holder = found.text("holder");
    state.acquired_at = found.text("acquired_at");
    state.remaining = std::chrono::microseconds{found.number("remaining_us")};
  }
  return seen;
}

}  // namespace rowlock::postgres
