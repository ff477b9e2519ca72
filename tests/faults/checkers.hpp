// What must hold after a run, whatever went wrong in it.
#ifndef ROWLOCK_TESTS_FAULTS_CHECKERS_HPP
#define ROWLOCK_TESTS_FAULTS_CHECKERS_HPP

#include <string>
#include <vector>

#include "faults/history.hpp"

namespace rowlock::tests {

// Each returns a line for every violation it finds. An outcome that its client never learnt is what
// the database shows.

/// Transactions that were reported committed, and whose entry is not there.
std::vector<std::string> lost_commits(const history& seen);

/// Counters that are not as high as the number of transactions that each added one.
std::vector<std::string> lost_updates(const history& seen);

/// Versions that do not rise strictly in the order of the commits, key by key.
std::vector<std::string> versions_out_of_order(const history& seen);

/// Entries that were committed by a former holder after another had acquired the key and counted.
std::vector<std::string> commits_after_takeover(const history& seen);

/// Times at which two threads believed to hold one key. A row lock counts if its transaction
/// committed: one whose connection broke was over without a report.
std::vector<std::string> overlapping_beliefs(const history& seen);

}  // namespace rowlock::tests

#endif
