// What is printed at the end.
#ifndef ROWLOCK_EXAMPLE_REPORT_HPP
#define ROWLOCK_EXAMPLE_REPORT_HPP

#include <iosfwd>
#include <vector>

#include "ledger.hpp"
#include "proof.hpp"
#include "scoreboard.hpp"
#include "supervisor.hpp"

namespace settlement {

/// One line for each worker. What it settled is what the database says; the rest it counted itself.
void print_workers(std::ostream& out, const course& ended, const audit& found, scoreboard& board);

void print_throughput(std::ostream& out, const course& ended, const audit& found);

/// True if all of them hold.
bool print_claims(std::ostream& out, const std::vector<claim>& claims);

}  // namespace settlement

#endif
