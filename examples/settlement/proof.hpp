// Whether the database shows what it has to show.
#ifndef ROWLOCK_EXAMPLE_PROOF_HPP
#define ROWLOCK_EXAMPLE_PROOF_HPP

#include <string>
#include <vector>

#include "invoice.hpp"
#include "ledger.hpp"
#include "rowlock/port/store.hpp"
#include "scoreboard.hpp"
#include "supervisor.hpp"

namespace settlement {

struct claim {
  std::string text;
  bool holds = false;
  /// What was found, for people.
  std::string found;
};

/// The money: from what the ledger says and what the CSV file says.
std::vector<claim> prove_settlement(const std::vector<invoice>& invoices, const audit& found);

/// For each worker that was killed: somebody took its lease over.
std::vector<claim> prove_takeovers(const std::vector<worker_end>& workers, unsigned kills,
                                   rowlock::store& locks);

/// For those that paused: the fence kept each of them from settling what another had settled.
std::vector<claim> prove_fences(unsigned pauses, scoreboard& board);

/// Leases on these invoices that ran out and were taken over.
std::int64_t count_takeovers(const std::vector<invoice>& invoices, rowlock::store& locks);

}  // namespace settlement

#endif
