// One cell of the matrix of exclusion: a store, how the key is held, how it is contended for.
#ifndef ROWLOCK_TESTS_CONFORMANCE_EXCLUSION_CELL_HPP
#define ROWLOCK_TESTS_CONFORMANCE_EXCLUSION_CELL_HPP

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "support/possession.hpp"
#include "support/store_bench.hpp"

namespace rowlock::tests {

using exclusion_cell = std::tuple<bench_kind, mode, mode>;

inline auto every_cell_of(const std::vector<bench_kind>& kinds) {
  return testing::Combine(testing::ValuesIn(kinds), testing::ValuesIn(every_mode()),
                          testing::ValuesIn(every_mode()));
}

inline std::string name_of_cell(const testing::TestParamInfo<exclusion_cell>& instance) {
  const auto& [kind, holding, contending] = instance.param;
  return kind.name + '_' + name_of(holding) + "_against_" + name_of(contending);
}

}  // namespace rowlock::tests

#endif
