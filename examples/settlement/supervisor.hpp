// Starts the workers, kills some, pauses some, and waits for the others.
#ifndef ROWLOCK_EXAMPLE_SUPERVISOR_HPP
#define ROWLOCK_EXAMPLE_SUPERVISOR_HPP

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "invoice.hpp"
#include "scoreboard.hpp"
#include "scratch_database.hpp"

namespace settlement {

struct plan {
  unsigned workers = 4;
  unsigned kills = 1;
  /// How many stop with an invoice in their hands; they go on when all others have ended, and
  /// somebody else has settled it.
  unsigned pauses = 0;
  bool without_locks = false;
};

/// What became of one worker.
struct worker_end {
  std::string name;
  std::string ending;
  bool succeeded = false;
  /// The invoice it held when it was killed; empty if it was not.
  std::string unfinished = {};
};

struct course {
  std::chrono::duration<double> duration{};
  std::vector<worker_end> workers = {};
};

/// Lets the workers settle what stands in the ledger, with a progress line. Nobody may have the
/// database open when it begins. Throws `interrupted`, and what the database throws; then no worker
/// is left.
course supervise(const plan& planned, const std::vector<invoice>& invoices,
                 const scratch_database& database, scoreboard& board);

}  // namespace settlement

#endif
