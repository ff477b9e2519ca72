// The calls of the port for leases, on a SQLite file.
#ifndef ROWLOCK_SQLITE_LEASES_HPP
#define ROWLOCK_SQLITE_LEASES_HPP

#include <optional>
#include <span>
#include <vector>

#include "rowlock/store.hpp"
#include "sqlite/file_access.hpp"

namespace rowlock::on_sqlite {

// As `store` has them, for requests that were checked. They throw `failure`. Those that change rows
// answer busy when their turn as a writer did not come; the others throw `error` (unavailable) when
// they could not read.

std::vector<acquire_answer> acquire(file_turn& file, std::span<const acquire_request> requests);
std::vector<renew_answer> renew(file_turn& file, std::span<const renew_request> requests);
std::vector<release_answer> release(file_turn& file, std::span<const release_request> requests);
hand_over_answer hand_over(file_turn& file, const hand_over_request& request);
note_answer write_note(file_turn& file, const note_request& request);
std::vector<std::optional<row_state>> read(file_turn& file, std::span<const lock_key> keys);
std::vector<std::optional<row_state>> prepare(file_turn& file, std::span<const lock_key> keys);

}  // namespace rowlock::on_sqlite

#endif
