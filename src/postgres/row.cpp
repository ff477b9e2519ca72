// The conversion of result rows to rows of the lock table.
#include "postgres/row.hpp"

#include <chrono>
#include <utility>

namespace rowlock::postgres {

using std::chrono::microseconds;

seen_row seen_in(const result_set::row& found, lock_key key) {
  seen_row seen;
  row_state& state = seen.state;
  state.key = std::move(key);
  state.version = {found.number("version")};
  state.owned = !found.is_null("owner");
  state.failure_count = found.number("failure_count");
  state.expiry_count = found.number("expiry_count");
  state.note = found.text("note");
  state.force_reason = found.text("force_reason");
  seen.owner = found.text("owner");
  seen.left = microseconds{found.number("remaining_us")};
  if (state.owned || seen.left > microseconds::zero()) {
    state.holder = found.text("holder");
    state.acquired_at = found.text("acquired_at");
    state.remaining = seen.left;
  }
  const microseconds remembered{found.number("done_left_us")};
  if (remembered > microseconds::zero()) {
    // The table accepts a done mark without a grant, which a statement written by hand may leave.
    const auto by = found.is_null("done_by") ? 0 : found.number("done_by");
    state.done = done_mark{{by}, found.text("done_at"), remembered};
  }
  return seen;
}

}  // namespace rowlock::postgres
