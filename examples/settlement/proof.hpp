// What is printed at the end.
#ifndef ROWLOCK_EXAMPLE_PROOF_HPP
#define ROWLOCK_EXAMPLE_PROOF_HPP

#include <iosfwd>
#include <vector>

#include "ledger.hpp"
#include "progress.hpp"
#include "scratch_database.hpp"
#include "supervisor.hpp"

namespace settlement {

/// Prints what became of the workers and what the database shows. True if it proves that all is as
/// it must be.
bool print_proof(std::ostream& out, const plan& planned, const std::vector<invoice>& invoices,
                 const course& ended, const scratch_database& database,
                 const shared_counts& counts);

}  // namespace settlement

#endif
