// One cell of the matrix of exclusion: a store, how the key is held, how it is contended for.
#ifndef ROWLOCK_TESTS_CONFORMANCE_EXCLUSION_CELL_HPP
#define ROWLOCK_TESTS_CONFORMANCE_EXCLUSION_CELL_HPP

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "conformance/stores.hpp"
#include "support/possession.hpp"

namespace rowlock::tests {

using exclusion_cell = std::tuple<bench_kind, mode, mode>;

/// Without transactions a lease is the only way to have a key.
inline std::vector<mode> modes_of(const bench_kind& kind) {
  return kind.has_transactions ? every_mode() : std::vector{mode::lease};
}

inline std::vector<exclusion_cell> every_cell_of(const std::vector<bench_kind>& kinds) {
  std::vector<exclusion_cell> cells;
  for (const auto& kind : kinds) {
    for (const auto holding : modes_of(kind)) {
      for (const auto contending : modes_of(kind)) cells.emplace_back(kind, holding, contending);
    }
  }
  return cells;
}

inline std::string name_of_cell(const testing::TestParamInfo<exclusion_cell>& instance) {
  const auto& [kind, holding, contending] = instance.param;
  return kind.name + '_' + mode_name(holding) + "_against_" + mode_name(contending);
}

}  // namespace rowlock::tests

#endif
