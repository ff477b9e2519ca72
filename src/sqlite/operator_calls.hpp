// The calls of the port for people on call, on a SQLite file.
#ifndef ROWLOCK_SQLITE_OPERATOR_CALLS_HPP
#define ROWLOCK_SQLITE_OPERATOR_CALLS_HPP

#include <optional>
#include <string>
#include <vector>

#include "rowlock/store.hpp"
#include "sqlite/file_access.hpp"

namespace rowlock::on_sqlite {

// As `store` has them, for requests that were checked. They throw `failure`, and `error`
// (unavailable) when they could not read.

std::vector<row_state> list(file_turn& file);
/// Asks for the place of the file's writer for a moment, out of turn.
std::optional<std::string> used_by(file_turn& file, const lock_key& key);
force_answer force_release(file_turn& file, const force_request& request);
/// Purges nothing of what it looked at when its turn as a writer did not come.
purge_answer purge(file_turn& file, const purge_request& request);

}  // namespace rowlock::on_sqlite

#endif
