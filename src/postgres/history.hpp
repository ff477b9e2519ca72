// The history on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_HISTORY_HPP
#define ROWLOCK_POSTGRES_HISTORY_HPP

#include "postgres/executor.hpp"

namespace rowlock::postgres {

history_page history(executor& exec, const history_request& request);

std::size_t purge_history(executor& exec, const history_purge_request& request);

}  // namespace rowlock::postgres

#endif
