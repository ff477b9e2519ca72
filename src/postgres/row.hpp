// The conversion of result rows to rows of the lock table.
#ifndef ROWLOCK_POSTGRES_ROW_HPP
#define ROWLOCK_POSTGRES_ROW_HPP

#include <chrono>
#include <string>

#include "postgres/values.hpp"
#include "rowlock/port/store.hpp"
#include "store/refusal_of.hpp"

namespace rowlock::postgres {

using detail::seen_row;

seen_row seen_in(const result_set::row& found, lock_key key);

}  // namespace rowlock::postgres

#endif
