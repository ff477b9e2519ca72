// This library, on a SQLite file.
#ifndef ROWLOCK_BENCH_RACE_ROWLOCK_ON_SQLITE_HPP
#define ROWLOCK_BENCH_RACE_ROWLOCK_ON_SQLITE_HPP

#include <string>

#include "race/protocol.hpp"

namespace rowlock::race {

std::string sqlite_file_in(const place& where);
void build_on_sqlite(const place& where);

protocol rowlock_on_sqlite(std::string name);

}  // namespace rowlock::race

#endif
