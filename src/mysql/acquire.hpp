// Acquiring rows on MariaDB or MySQL: the modes of `store::acquire`.
#ifndef ROWLOCK_MYSQL_ACQUIRE_HPP
#define ROWLOCK_MYSQL_ACQUIRE_HPP

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "mysql/executor.hpp"

namespace rowlock::mysql {

using renew_call = std::function<std::vector<change_answer>(std::span<const renew_request>)>;

/// `store::acquire`. Throws `soci::mysql_soci_error`. `renew` makes `store::renew`, for rows that
/// the same attempt was granted before.
///
/// Two round trips for a set that is granted, whether or not its rows exist. One for a set that is
/// refused at the first read, four if another transaction was in the way after that read. (MySQL:
/// five, one and six.) For some of a set five, or one if no row is free; two more for missing rows.
std::vector<acquire_answer> acquire(executor& exec, std::span<const acquire_request> requests,
                                    acquire_mode mode, std::chrono::microseconds skew,
                                    renew_call renew);

}  // namespace rowlock::mysql

#endif
