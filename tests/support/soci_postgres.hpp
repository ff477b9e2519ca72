// The test server, as SOCI reads it.
#ifndef ROWLOCK_TESTS_SUPPORT_SOCI_POSTGRES_HPP
#define ROWLOCK_TESTS_SUPPORT_SOCI_POSTGRES_HPP

#include <string>

#include "support/postgres_schema.hpp"

namespace rowlock::tests {

/// `postgresql://dbname='...' host='...'`, of a URL of libpq's.
std::string soci_url(const std::string& url = postgres_url());

}  // namespace rowlock::tests

#endif
