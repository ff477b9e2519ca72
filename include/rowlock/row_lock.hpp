// Pessimistic possession: it lives and dies with a transaction.
#ifndef ROWLOCK_ROW_LOCK_HPP
#define ROWLOCK_ROW_LOCK_HPP

#include <iosfwd>
#include <vector>

#include "rowlock/lock_key.hpp"
#include "rowlock/version.hpp"

namespace rowlock {

/// One row that a transaction holds, with the version it was given at the lock. A rollback gives
/// the old version back, so the number is no token for systems outside the database.
struct locked_row {
  lock_key key;
  rowlock::version version;
};

/// All rows of one `lock_rows`, in locking order. They are unlocked by the end of the transaction
/// and by nothing else.
struct row_lock {
  std::vector<locked_row> rows;
};

/// What a compare-and-set inside a transaction answers.
enum class [[nodiscard]] commit_result{
    committed,  ///< The version was moved; it counts when the transaction commits.
    /// It is no longer as it was seen, or there is no such row (never was, or was deleted since).
    /// Roll the transaction back. Which of them, the next read of the row tells.
    stale,
};

/// For people: `committed`.
std::ostream& operator<<(std::ostream& out, commit_result shown);

}  // namespace rowlock

#endif
