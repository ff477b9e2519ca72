// The benches of the conformance suite, in the words of the tests.
#ifndef ROWLOCK_TESTS_SUPPORT_STORE_BENCH_HPP
#define ROWLOCK_TESTS_SUPPORT_STORE_BENCH_HPP

#include <memory>

#include "rowlock/testing/store_bench.hpp"
#include "support/application.hpp"

namespace rowlock::tests {

using conformance::bench_kind;
using conformance::store_bench;

std::unique_ptr<store_bench> make_memory_bench();

}  // namespace rowlock::tests

#endif
