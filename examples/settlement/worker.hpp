// One worker: settles invoices until none is left.
#ifndef ROWLOCK_EXAMPLE_WORKER_HPP
#define ROWLOCK_EXAMPLE_WORKER_HPP

#include <string>

#include "ledger.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/store.hpp"
#include "scoreboard.hpp"

namespace settlement {

class worker {
 public:
  /// One that pauses stops itself (SIGSTOP) with its first invoice, between its look at it and the
  /// transfer.
  worker(rowlock::store& locks, ledger& books, std::string name, score& mine, bool pauses);

  /// Goes round from the invoice after `start`, so that workers seldom meet before the end.
  void run(const std::string& start);

 private:
  /// True if the invoice is settled now, by whomever.
  bool settle(const invoice& due);
  void count(const rowlock::refusal& refused);

  rowlock::lock_table locks_;
  ledger& books_;
  std::string name_;
  score& mine_;
  bool is_to_pause_;
};

/// The negative control: the same walk with no lock anywhere. All workers begin with the same
/// invoice, and each waits after its look until all have looked.
void work_without_locks(ledger& books, const std::string& name, score& mine, scoreboard& board,
                        unsigned workers);

}  // namespace settlement

#endif
