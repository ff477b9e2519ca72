// The compare-and-set on a row of the application.
#ifndef ROWLOCK_STORE_VERSIONED_UPDATE_HPP
#define ROWLOCK_STORE_VERSIONED_UPDATE_HPP

#include <string>

#include "rowlock/versioned_table.hpp"

namespace rowlock::sql {

/// `UPDATE t SET v = v + 1 WHERE id = $1 AND v = $2`, in every dialect: $1 is the id, $2 the
/// version seen. Throws `error` (misuse) for names that are not allowed.
std::string versioned_update(const versioned_table& table);

}  // namespace rowlock::sql

#endif
