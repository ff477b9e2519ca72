// What a row says of a lease that may no longer be in it.
#ifndef ROWLOCK_LEASE_ROW_VERDICT_HPP
#define ROWLOCK_LEASE_ROW_VERDICT_HPP

#include <optional>

#include "lease/lease_state.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

enum class row_verdict {
  ours,
  unset_by_transaction,  ///< By the holder's own, which has committed.
  lost,
};

/// A transaction that was to unset the row is known to have committed in two cases only: the row is
/// as that transaction left it, since every other grant moves the version on, or it remembers work
/// that was done under this lease. Otherwise others may have had the key after a rollback.
inline row_verdict judge(const std::optional<row_state>& row, const lease_state& lease) {
  if (!row) return row_verdict::lost;
  if (row->owned && row->version == lease.token) return row_verdict::ours;
  // Versions only rise, so this is a reader that lags, and it proves nothing.
  if (row->version < lease.token) return row_verdict::ours;
  const version unset_as{lease.release_transaction};
  if (unset_as.number == 0) return row_verdict::lost;
  const bool is_as_it_was_left = !row->owned && row->version == unset_as;
  const bool is_done = row->done && row->done->by == lease.token;
  return is_as_it_was_left || is_done ? row_verdict::unset_by_transaction : row_verdict::lost;
}

}  // namespace rowlock::detail

#endif
