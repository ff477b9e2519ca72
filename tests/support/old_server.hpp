// A server that says it is older than it is.
#ifndef ROWLOCK_TESTS_SUPPORT_OLD_SERVER_HPP
#define ROWLOCK_TESTS_SUPPORT_OLD_SERVER_HPP

#include <functional>
#include <string>

namespace rowlock::tests {

// What `tcp_proxy::edit_replies` takes.

/// MariaDB and MySQL report `version` in their greeting.
std::function<std::string(std::string)> mysql_that_says_it_is(std::string version);
/// PostgreSQL reports it after the login; of `major` there are two digits.
std::function<std::string(std::string)> postgres_that_says_it_is(std::string major);

}  // namespace rowlock::tests

#endif
