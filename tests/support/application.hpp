// The application of the conformance suite, in the words of the tests.
#ifndef ROWLOCK_TESTS_SUPPORT_APPLICATION_HPP
#define ROWLOCK_TESTS_SUPPORT_APPLICATION_HPP

#include "rowlock/testing/store_bench.hpp"

namespace rowlock::tests {

using conformance::app_connection;
using conformance::app_transaction;
using conformance::app_work;

}  // namespace rowlock::tests

#endif
