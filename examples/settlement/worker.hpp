// One worker: a process that settles invoices until none is left.
#ifndef ROWLOCK_EXAMPLE_WORKER_HPP
#define ROWLOCK_EXAMPLE_WORKER_HPP

#include <sys/types.h>

#include <functional>
#include <string>

#include "ledger.hpp"
#include "progress.hpp"
#include "rowlock/port/store.hpp"

namespace settlement {

/// Goes round from the invoice after `start`, so that workers seldom meet before the end. One that
/// pauses stops itself (SIGSTOP) with its first invoice, between its read of it and the transfer.
void settle_invoices(rowlock::store& locks, ledger& books, const std::string& name,
                     worker_counts& counts, const std::string& start, bool pauses);

/// The negative control: the same walk without any lock. All workers begin with the same invoice,
/// and each waits after its read until all have read it.
void settle_without_locks(ledger& books, const std::string& name, worker_counts& counts,
                          const std::function<void()>& await_all);

/// A child of fork().
///
/// Thread-safety: one thread at a time.
class worker_process {
 public:
  /// `body` runs in the child, which ends with code 0 when it returns and with 1 when it throws.
  /// No database may be open at this moment: connections do not survive a fork.
  worker_process(std::string name, const std::function<void()>& body);
  worker_process(worker_process&& other) noexcept;
  worker_process& operator=(worker_process&&) = delete;
  /// Kills a child that still runs.
  ~worker_process();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Does not wait.
  [[nodiscard]] bool is_running();

  /// SIGSTOP; when it returns true not one instruction is executed until `resume`. False: the child
  /// ended before.
  [[nodiscard]] bool stop();
  void resume() const noexcept;
  /// SIGKILL, and waits for the end.
  void kill() noexcept;

  /// True when it ended by itself, with code 0.
  [[nodiscard]] bool has_succeeded() const noexcept;
  /// How it ended, for people.
  [[nodiscard]] std::string ending() const;

 private:
  std::string name_;
  pid_t pid_;
  bool is_over_ = false;
  int status_ = 0;
};

}  // namespace settlement

#endif
