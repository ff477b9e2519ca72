// The history on MariaDB and MySQL.
#ifndef ROWLOCK_MYSQL_HISTORY_HPP
#define ROWLOCK_MYSQL_HISTORY_HPP

#include "mysql/executor.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::mysql {

history_page history(executor& exec, const history_request& request);

std::size_t purge_history(executor& exec, const history_purge_request& request);

}  // namespace rowlock::mysql

#endif
