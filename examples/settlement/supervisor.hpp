// Starts the workers, kills some, pauses some, and waits for the others.
#ifndef ROWLOCK_EXAMPLE_SUPERVISOR_HPP
#define ROWLOCK_EXAMPLE_SUPERVISOR_HPP

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "ledger.hpp"
#include "progress.hpp"
#include "scratch_database.hpp"

namespace settlement {

/// A signal requested the end of the program. An exception, so that the workers and the database
/// are removed.
class interrupted : public std::runtime_error {
 public:
  explicit interrupted(int signal_number)
      : std::runtime_error{"interrupted"}, signal_number_{signal_number} {}
  [[nodiscard]] int signal_number() const noexcept { return signal_number_; }

 private:
  int signal_number_;
};

/// From now on SIGINT, SIGTERM and SIGHUP wait for `supervise`, which throws `interrupted`.
void catch_signals();

struct plan {
  unsigned workers = 4;
  unsigned kills = 1;
  /// How many stop while they hold an invoice; they go on when all others have ended, and another
  /// worker has settled it.
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

/// Lets the workers settle what is in the ledger, with a progress line. The database must not be
/// open when it begins. Throws `interrupted`, and what the database throws; then no worker is left.
course supervise(const plan& planned, const std::vector<invoice>& invoices,
                 const scratch_database& database, const shared_counts& counts);

}  // namespace settlement

#endif
