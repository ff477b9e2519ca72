// Whether a row still belongs to a lease.
#ifndef ROWLOCK_LEASE_ROW_VERDICT_HPP
#define ROWLOCK_LEASE_ROW_VERDICT_HPP

#include <optional>

#include "lease/lease_state.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

enum class row_verdict {
  ours,
  unset_by_transaction,  ///< A transaction of the holder released the row and committed.
  lost,
};

/// The releasing transaction is known to have committed in two cases. Either the row is as that
/// transaction left it, because every later grant raises the version; or the row remembers work
/// done under this lease. Otherwise the transaction may have rolled back and another holder had the
/// key since.
inline row_verdict judge(const std::optional<row_state>& row, const lease_state& lease) {
  if (!row) return row_verdict::lost;
  if (row->owned && row->version == lease.token) return row_verdict::ours;
  // Versions only rise, so the read came from a lagging replica and proves nothing.
  if (row->version < lease.token) return row_verdict::ours;
  const version unset_as{lease.release_transaction};
  if (unset_as.number == 0) return row_verdict::lost;
  const bool is_as_it_was_left = !row->owned && row->version == unset_as;
  const bool is_done = row->done && row->done->by == lease.token;
  return is_as_it_was_left || is_done ? row_verdict::unset_by_transaction : row_verdict::lost;
}

}  // namespace rowlock::detail

#endif
