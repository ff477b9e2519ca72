// Kills a worker at the worst moment.
#ifndef ROWLOCK_EXAMPLE_SABOTEUR_HPP
#define ROWLOCK_EXAMPLE_SABOTEUR_HPP

#include <optional>
#include <string>

#include "ledger.hpp"
#include "rowlock/port/store.hpp"
#include "worker_process.hpp"

namespace settlement {

/// Thread-safety: one thread at a time.
class saboteur {
 public:
  saboteur(rowlock::store& locks, ledger& books) : locks_{locks}, books_{books} {}

  /// Stops the worker and looks what it holds. If that is an invoice, not yet settled, the worker
  /// is killed and the invoice's id returned; otherwise the worker goes on.
  std::optional<std::string> try_to_kill(worker_process& victim);

 private:
  /// The invoice that is leased to the process and not settled.
  std::optional<std::string> unfinished_invoice_of(pid_t pid);

  rowlock::store& locks_;
  ledger& books_;
};

}  // namespace settlement

#endif
