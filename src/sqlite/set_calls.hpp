// The calls of the port for sets of keys, on a SQLite file.
#ifndef ROWLOCK_SQLITE_SET_CALLS_HPP
#define ROWLOCK_SQLITE_SET_CALLS_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "rowlock/store.hpp"
#include "sqlite/file_access.hpp"

namespace rowlock::on_sqlite {

// As `store` has them, for sets that were checked. They throw `failure`. Where their turn as a
// writer did not come, nothing is granted.

std::vector<acquire_answer> acquire_all(file_turn& file, std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_any(file_turn& file, std::span<const acquire_request> requests,
                                        std::size_t at_most);

}  // namespace rowlock::on_sqlite

#endif
