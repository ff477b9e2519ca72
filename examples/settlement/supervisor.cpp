// Worker processes, one of which is killed at the worst moment.
#include "supervisor.hpp"

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "worker.hpp"

namespace settlement {
namespace {

using namespace std::chrono_literals;

constexpr std::array caught_signals{SIGINT, SIGTERM, SIGHUP};

// A signal handler can reach nothing else.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t received_signal = 0;

void handle_signals(void (*handler)(int)) {
  for (const int number : caught_signals) std::signal(number, handler);
}

void throw_if_interrupted() {
  if (received_signal != 0) throw interrupted{received_signal};
}

/// What one worker process does.
void work(const plan& planned, unsigned number, const std::string& name,
          const std::vector<invoice>& invoices, const scratch_database& database,
          const shared_counts& counts) {
  handle_signals(SIG_DFL);  // they end a child, as usual
  const auto books = database.open_ledger();
  if (planned.without_locks) {
    settle_without_locks(*books, name, counts.of(number),
                         [&] { counts.await_all(planned.workers); });
    return;
  }
  const auto locks = database.open_store();
  const std::size_t first = invoices.size() * number / planned.workers;
  settle_invoices(*locks, *books, name, counts.of(number), first == 0 ? "" : invoices[first - 1].id,
                  number < planned.pauses);
}

/// The invoice that is leased to the process and not settled.
std::optional<std::string> unfinished_invoice_of(pid_t pid, rowlock::store& locks, ledger& books) {
  // The label of a holder is `host:pid` by default.
  const auto is_its_own = [wanted = std::to_string(pid)](const std::string& holder) {
    return holder.substr(holder.rfind(':') + 1) == wanted;
  };
  for (const auto& row : locks.list()) {
    if (row.key.type == "invoice" && row.is_live() && is_its_own(row.holder)) {
      if (books.is_settled(row.key.source_id)) return {};
      return row.key.source_id;
    }
  }
  return {};
}

/// Stops the worker and reads what it holds. If that is an invoice, not yet settled, the worker is
/// killed and the invoice's id returned; otherwise the worker goes on.
std::optional<std::string> try_to_kill(worker_process& worker, rowlock::store& locks,
                                       ledger& books) {
  if (!worker.stop()) return {};
  auto unfinished = unfinished_invoice_of(worker.pid(), locks, books);
  if (unfinished) {
    // A commit that was sent before the stop may still be under way in the server.
    std::this_thread::sleep_for(50ms);
    if (unfinished_invoice_of(worker.pid(), locks, books) == unfinished) {
      worker.kill();
      return unfinished;
    }
  }
  worker.resume();
  return {};
}

/// All workers, and the invoices of those that were killed.
class worker_group {
 public:
  worker_group(const plan& planned, const std::vector<invoice>& invoices,
               const scratch_database& database, const shared_counts& counts)
      : pauses_{planned.pauses} {
    processes_.reserve(planned.workers);
    for (unsigned number = 0; number < planned.workers; ++number) {
      const std::string name = "worker-" + std::to_string(number + 1);
      processes_.emplace_back(name,
                              [&] { work(planned, number, name, invoices, database, counts); });
    }
    unfinished_.resize(planned.workers);
  }

  [[nodiscard]] unsigned running() {
    unsigned count = 0;
    for (auto& one : processes_) count += one.is_running() ? 1 : 0;
    return count;
  }

  [[nodiscard]] unsigned killed() const {
    unsigned count = 0;
    for (const auto& unfinished : unfinished_) count += unfinished ? 1 : 0;
    return count;
  }

  /// Changes nothing for those that are not paused.
  void resume_paused() const {
    for (unsigned number = 0; number < pauses_; ++number) processes_[number].resume();
  }

  /// Tries it with one of those that are left and do not pause, each time with the next one.
  void try_to_kill_one(rowlock::store& locks, ledger& books) {
    next_ = (next_ + 1) % processes_.size();
    if (next_ < pauses_ || unfinished_[next_]) return;
    unfinished_[next_] = try_to_kill(processes_[next_], locks, books);
  }

  [[nodiscard]] std::vector<worker_end> ends() const {
    std::vector<worker_end> result;
    for (std::size_t number = 0; number < processes_.size(); ++number) {
      const auto& process = processes_[number];
      result.push_back({.name = process.name(),
                        .ending = process.ending(),
                        .succeeded = process.has_succeeded() || unfinished_[number].has_value(),
                        .unfinished = unfinished_[number].value_or("")});
    }
    return result;
  }

 private:
  std::vector<worker_process> processes_;
  std::vector<std::optional<std::string>> unfinished_;
  unsigned pauses_;
  std::size_t next_ = 0;
};

}  // namespace

void catch_signals() {
  handle_signals([](int number) { received_signal = number; });
}

course supervise(const plan& planned, const std::vector<invoice>& invoices,
                 const scratch_database& database, const shared_counts& counts) {
  const auto began = std::chrono::steady_clock::now();
  worker_group workers{planned, invoices, database, counts};

  const auto locks = database.open_store();
  const auto books = database.open_ledger();
  progress_line progress{counts, invoices.size()};

  unsigned running = planned.workers;
  for (; running > 0; running = workers.running()) {
    throw_if_interrupted();
    // The kills are spread evenly over the work.
    const auto killed = workers.killed();
    if (killed < planned.kills &&
        counts.settled() * (planned.kills + 1) > invoices.size() * (killed + 1)) {
      workers.try_to_kill_one(*locks, *books);
    }
    if (running <= planned.pauses) workers.resume_paused();
    progress.show(running);
    std::this_thread::sleep_for(5ms);
  }
  throw_if_interrupted();  // Ctrl-C ends the workers, too, and maybe before the loop sees it
  const auto ended = std::chrono::steady_clock::now();
  progress.finish();
  return {.duration = ended - began, .workers = workers.ends()};
}

}  // namespace settlement
