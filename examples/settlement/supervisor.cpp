// Worker processes, one eye on each.
#include "supervisor.hpp"

#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "interruption.hpp"
#include "progress_line.hpp"
#include "saboteur.hpp"
#include "worker.hpp"
#include "worker_process.hpp"

namespace settlement {
namespace {

using namespace std::chrono_literals;

/// What one worker process does.
int work(const plan& planned, unsigned number, const std::string& name,
         const std::vector<invoice>& invoices, const scratch_database& database,
         scoreboard& board) {
  const auto books = database.open_ledger();
  if (planned.without_locks) {
    work_without_locks(*books, name, board.of(number), board, planned.workers);
    return 0;
  }
  const auto locks = database.open_store();
  const std::size_t first = invoices.size() * number / planned.workers;
  worker{*locks, *books, name, board.of(number), number < planned.pauses}.run(
      first == 0 ? "" : invoices[first - 1].id);
  return 0;
}

/// All workers, and what became of those that were killed.
class crew {
 public:
  crew(const plan& planned, const std::vector<invoice>& invoices, const scratch_database& database,
       scoreboard& board)
      : pauses_{planned.pauses} {
    processes_.reserve(planned.workers);
    for (unsigned number = 0; number < planned.workers; ++number) {
      const std::string name = "worker-" + std::to_string(number + 1);
      processes_.emplace_back(
          name, [&] { return work(planned, number, name, invoices, database, board); });
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
  void try_to_kill_one(saboteur& enemy) {
    next_victim_ = (next_victim_ + 1) % processes_.size();
    if (next_victim_ < pauses_ || unfinished_[next_victim_]) return;
    unfinished_[next_victim_] = enemy.try_to_kill(processes_[next_victim_]);
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
  std::size_t next_victim_ = 0;
};

}  // namespace

course supervise(const plan& planned, const std::vector<invoice>& invoices,
                 const scratch_database& database, scoreboard& board) {
  const auto began = std::chrono::steady_clock::now();
  crew workers{planned, invoices, database, board};

  const auto locks = database.open_store();
  const auto books = database.open_ledger();
  saboteur enemy{*locks, *books};
  progress_line progress{invoices.size()};

  unsigned running = planned.workers;
  for (; running > 0; running = workers.running()) {
    throw_if_interrupted();
    // The kills are spread evenly over the work.
    const auto settled = board.settled();
    const auto killed = workers.killed();
    if (killed < planned.kills && settled * (planned.kills + 1) > invoices.size() * (killed + 1)) {
      workers.try_to_kill_one(enemy);
    }
    if (running <= planned.pauses) workers.resume_paused();
    progress.show(settled, board.refused(), running);
    std::this_thread::sleep_for(5ms);
  }
  const auto ended = std::chrono::steady_clock::now();
  progress.finish(board.settled(), board.refused());
  return {.duration = ended - began, .workers = workers.ends()};
}

}  // namespace settlement
