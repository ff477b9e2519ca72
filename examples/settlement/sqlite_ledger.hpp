// The ledger in a SQLite file.
#ifndef ROWLOCK_EXAMPLE_SQLITE_LEDGER_HPP
#define ROWLOCK_EXAMPLE_SQLITE_LEDGER_HPP

#include <memory>
#include <string>

#include "ledger.hpp"

namespace settlement {

/// The lock table of the same file is `shared_lock`.
std::unique_ptr<ledger> open_sqlite_ledger(const std::string& path);

}  // namespace settlement

#endif
