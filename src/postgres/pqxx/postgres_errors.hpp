// What an exception of libpqxx means.
#ifndef ROWLOCK_POSTGRES_PQXX_POSTGRES_ERRORS_HPP
#define ROWLOCK_POSTGRES_PQXX_POSTGRES_ERRORS_HPP

#include <exception>

#include "postgres/fault.hpp"

namespace rowlock::postgres {

/// As far as libpqxx tells it; empty for an exception that is not of libpqxx.
fault fault_in(const std::exception& thrown);

/// Called while an exception is being handled: throws the `error` it means, as the other function
/// of this name does.
[[noreturn]] void throw_as_error(effects had, const table_name* lock_table);

}  // namespace rowlock::postgres

#endif
