// Acquiring rows of a SQLite file.
#ifndef ROWLOCK_SQLITE_ACQUIRE_HPP
#define ROWLOCK_SQLITE_ACQUIRE_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "rowlock/port/store.hpp"
#include "sqlite/file_access.hpp"

namespace rowlock::sqlite {

// The modes of `store::acquire`, for at least one request. They throw `failure`. If the file was
// not free for a writer in time, nothing is granted.

std::vector<acquire_answer> acquire(file_access& file, std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_all(file_access& file,
                                        std::span<const acquire_request> requests);
std::vector<acquire_answer> acquire_any(file_access& file,
                                        std::span<const acquire_request> requests,
                                        std::size_t at_most);

}  // namespace rowlock::sqlite

#endif
