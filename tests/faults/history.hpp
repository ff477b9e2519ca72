// What happened in a run, as it can be checked afterwards.
#ifndef ROWLOCK_TESTS_FAULTS_HISTORY_HPP
#define ROWLOCK_TESTS_FAULTS_HISTORY_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock::tests {

enum class possession_kind : std::uint8_t { lease, row_lock };

/// One committed transaction that was protected by a key.
struct entry {
  /// Rises with the moment of writing. That is between the grant and the commit, so, as long as
  /// holders exclude each other, it is the order of the commits as well. None if unknown.
  std::optional<std::int64_t> place = std::nullopt;
  int key = 0;
  /// What the key was granted with.
  rowlock::version version = {};
  /// Workload 1: the counter was read outside the transaction, and written as this.
  std::optional<std::int64_t> counted = std::nullopt;
  /// Workload 2: how many entries of smaller versions the key had when it was acquired.
  std::optional<std::int64_t> smaller = std::nullopt;
};

/// A thread believed to hold a key all the time from `begin` to `end`.
struct believed {
  int key = 0;
  rowlock::version version = {};
  possession_kind kind = possession_kind::lease;
  boot_clock::time_point begin = {};
  boot_clock::time_point end = {};
  /// Its transaction was reported committed.
  bool acknowledged = false;
};

struct history {
  std::vector<entry> entries;
  /// What the counters of workload 1 show at the end.
  std::map<int, std::int64_t> counters;
  std::vector<believed> beliefs;
};

}  // namespace rowlock::tests

#endif
