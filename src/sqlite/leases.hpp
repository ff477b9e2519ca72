// What the store asks of the file: leases, sets of keys, operators.
#ifndef ROWLOCK_SQLITE_LEASES_HPP
#define ROWLOCK_SQLITE_LEASES_HPP

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/port/store.hpp"
#include "sqlite/file_access.hpp"

namespace rowlock::on_sqlite {

// As `store` has them, for requests that were checked. They throw `failure`. Those that change rows
// answer busy when their turn as a writer did not come; the others throw `error` (unavailable) when
// they could not read.

std::vector<acquire_answer> acquire(file_access& file, std::span<const acquire_request> requests);
std::vector<change_answer> renew(file_access& file, std::span<const renew_request> requests);
std::vector<change_answer> release(file_access& file, std::span<const release_request> requests);
handoff_answer handoff(file_access& file, const handoff_request& request);
change_answer write_note(file_access& file, const note_request& request);
std::vector<std::optional<row_state>> read(file_access& file, std::span<const lock_key> keys);
std::vector<std::optional<row_state>> prepare(file_access& file, std::span<const lock_key> keys);

// As `store` has them, for sets that were checked. They throw `failure`. Where their turn as a
// writer did not come, nothing is granted.

std::vector<acquire_answer> acquire_all(file_access& file,
                                        std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_any(file_access& file,
                                        std::span<const acquire_request> requests,
                                        std::size_t at_most);

// As `store` has them, for requests that were checked. They throw `failure`, and `error`
// (unavailable) when they could not read.

std::vector<row_state> list(file_access& file);
/// Asks for the place of the file's writer for a moment, out of turn.
std::optional<std::string> used_by(file_access& file, const lock_key& key);
force_answer force_release(file_access& file, const force_request& request);
/// Purges nothing of what it looked at when its turn as a writer did not come.
purge_answer purge(file_access& file, const purge_request& request);

}  // namespace rowlock::on_sqlite

#endif
