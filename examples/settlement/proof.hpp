// The report at the end of a run.
#ifndef ROWLOCK_EXAMPLE_PROOF_HPP
#define ROWLOCK_EXAMPLE_PROOF_HPP

#include <iosfwd>
#include <vector>

#include "ledger.hpp"
#include "progress.hpp"
#include "scratch_database.hpp"
#include "supervisor.hpp"

namespace settlement {

/// Prints the fate of each worker and the contents of the database. True if no claim of the proof
/// fails.
bool print_proof(std::ostream& out, const plan& planned, const std::vector<invoice>& invoices,
                 const course& ended, const scratch_database& database,
                 const shared_counts& counts);

}  // namespace settlement

#endif
