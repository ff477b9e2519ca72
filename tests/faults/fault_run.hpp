// A run: workers, faults, and what is found afterwards.
#ifndef ROWLOCK_TESTS_FAULTS_FAULT_RUN_HPP
#define ROWLOCK_TESTS_FAULTS_FAULT_RUN_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "faults/chaos.hpp"
#include "faults/history.hpp"
#include "faults/proving_ground.hpp"
#include "faults/score_sheet.hpp"
#include "faults/workers.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

/// How much has to happen before a run is over.
struct run_size {
  std::uint64_t acquisitions = 20'000;
  unsigned kills = 200;
  /// Attempts to commit after the key was granted to another holder.
  std::uint64_t late_tries = 2'000;
};

/// The whole run in parts of at most 20,000 acquisitions. As many as ROWLOCK_FAULTS says, divided
/// by `divisor`, and of everything else in proportion. Throws when it says no number above zero.
std::vector<run_size> sizes_from_environment(unsigned divisor = 1);

/// Thread-safety: one thread at a time.
class fault_run {
 public:
  fault_run(proving_ground& ground, const run_size& size, fencing fences);

  /// Until all of the size has happened. Throws when nothing more happens.
  void make_things_go_wrong();

  /// Heals everything, kills half of the workers, lets the others end, and meanwhile acquires every
  /// key: what was not to be had in time.
  std::vector<std::string> keys_left_taken();
  /// Connections that outlive their clients.
  std::vector<std::string> connections_left() const;
  /// After `keys_left_taken`.
  [[nodiscard]] history what_happened() const;

  [[nodiscard]] rowlock::tests::score& score() noexcept { return sheet_.score(); }
  /// For people.
  [[nodiscard]] std::string totals();

 private:
  void freeze_worker();
  /// Some worker, if possible one that is in a phase that has been drawn.
  std::size_t draw_victim(const std::string& verb);
  [[nodiscard]] double progress();
  /// Grows with each acquisition, each late try and each fault.
  [[nodiscard]] std::uint64_t happened();

  proving_ground& ground_;
  run_size size_;
  std::size_t connections_before_;
  unsigned seed_ = std::random_device{}();
  temp_folder folder_;
  score_sheet sheet_;
  chaos chaos_;
  std::map<std::string, unsigned> victims_;
  workers workers_;
};

}  // namespace rowlock::tests

#endif
