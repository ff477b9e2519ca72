// A program that takes a key in another process than the test, and can be killed there.
#ifndef ROWLOCK_CONFORMANCE_CONTENDER_HPP
#define ROWLOCK_CONFORMANCE_CONTENDER_HPP

#include <memory>
#include <span>
#include <string>

#include "rowlock/conformance/application.hpp"
#include "rowlock/store.hpp"

namespace rowlock::conformance {

/// All that the program named by `store_bench::contender` does once it has opened its store: tries
/// once to take a key, says on the standard output what came of it, and keeps the key until a line,
/// or the end, comes on the standard input. `arguments` are the last three of its command line:
/// `lease`, `row_lock` or `optimistic_commit`, and the key's type and source id. `connection` is
/// null where the store has no transactions. Throws what the store throws, and
/// `std::invalid_argument`: let that end the program.
void contend(store& rows, std::unique_ptr<app_connection> connection,
             std::span<const std::string, 3> arguments);

}  // namespace rowlock::conformance

#endif
