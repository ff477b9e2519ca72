// Acquiring rows of a SQLite file.
#ifndef ROWLOCK_SQLITE_ACQUIRE_HPP
#define ROWLOCK_SQLITE_ACQUIRE_HPP

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rowlock/port/store.hpp"
#include "sqlite/file_access.hpp"
#include "sqlite/row_statements.hpp"

namespace rowlock::sqlite {

// The modes of `store::acquire`, for at least one request. They throw `failure`. If the file was
// not free for a writer in time, nothing is granted.

std::vector<acquire_answer> acquire(file_access& file, std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_all(file_access& file,
                                        std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_any(file_access& file,
                                        std::span<const acquire_request> requests,
                                        std::size_t at_most);

// Shared by the modes.

/// One request that might be granted.
struct grantable {
  /// Index among the requests.
  std::size_t place;
  /// The row exists with a live lease of this owner.
  bool is_mine = false;
  bool is_there = false;
  /// Granting it takes over an expired lease.
  bool is_takeover = false;
};

/// Fills in the answers that need no write. Returns the other requests, whose answer is `busy`
/// until they are written.
std::vector<grantable> find_grantable(row_statements& rows,
                                      std::span<const acquire_request> requests,
                                      std::vector<acquire_answer>& answers);

/// One statement; a refusal takes another one, which reads the row.
acquire_answer acquire_one(row_statements& rows, const acquire_request& request);

/// Requires the transaction of the file's one writer, so that the row it reads is the one it takes
/// over.
acquire_answer acquire_or_take_over(row_statements& rows, const acquire_request& request);

}  // namespace rowlock::sqlite

#endif
