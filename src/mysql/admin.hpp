// Operator calls on MariaDB and MySQL: notes, users, forced releases, purges.
#ifndef ROWLOCK_MYSQL_ADMIN_HPP
#define ROWLOCK_MYSQL_ADMIN_HPP

#include <chrono>
#include <optional>
#include <string>

#include "mysql/executor.hpp"

namespace rowlock::mysql {

// The calls of the store port with the same names. `skew` is how much the clocks of the servers may
// differ.

change_answer write_note(executor& exec, const note_request& request);
std::optional<std::string> used_by(executor& exec, const lock_key& key);
force_answer force_release(executor& exec, const force_request& request);
/// One round trip; one more for each 1,000 idle rows, or five if another transaction has locked one
/// of these.
purge_answer purge(executor& exec, const purge_request& request, std::chrono::microseconds skew);

}  // namespace rowlock::mysql

#endif
