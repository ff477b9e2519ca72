// What it means when no connection came about.
#ifndef ROWLOCK_POSTGRES_FAILED_CONNECT_HPP
#define ROWLOCK_POSTGRES_FAILED_CONNECT_HPP

#include <string>

namespace rowlock::postgres {

/// Throws `error`, what the words of libpq mean, without them: they may hold parts of a password.
/// `where` stands for the server.
[[noreturn]] void throw_failed_connect(const std::string& words, const std::string& where);

}  // namespace rowlock::postgres

#endif
