// Settings of a MariaDB or MySQL server that weaken a promise.
#ifndef ROWLOCK_MYSQL_MYSQL_SETTINGS_HPP
#define ROWLOCK_MYSQL_MYSQL_SETTINGS_HPP

#include <string>
#include <vector>

namespace rowlock::through_soci {

struct mysql_answer;

/// As `store::weak_settings`, from what SHOW VARIABLES answered.
std::vector<std::string> weak_settings_in(const mysql_answer& shown);

}  // namespace rowlock::through_soci

#endif
