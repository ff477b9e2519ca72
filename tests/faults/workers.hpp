// The workers of a run, which die and are replaced.
#ifndef ROWLOCK_TESTS_FAULTS_WORKERS_HPP
#define ROWLOCK_TESTS_FAULTS_WORKERS_HPP

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "faults/score_sheet.hpp"
#include "faults/worker.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {

/// Thread-safety: one thread at a time.
class workers {
 public:
  /// One worker for each address, which is its way to the database.
  workers(std::vector<std::string> urls, std::filesystem::path sheet, fencing fences,
          unsigned seed);

  [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }
  /// Ends it at once and puts another in its place.
  void replace(std::size_t slot);
  /// Stops all its threads where they are.
  void freeze(std::size_t slot);
  void thaw(std::size_t slot);

  /// Throws when a worker has ended that was not killed.
  void check() const;
  /// Ends every second worker at once.
  void kill_half();
  /// Waits for the others, which their sheet has commanded to stop. Throws when one of them has
  /// something to complain of.
  void await_half();

 private:
  void start(std::size_t slot);

  std::vector<std::string> urls_;
  std::filesystem::path sheet_;
  fencing fences_;
  unsigned seed_;
  std::vector<std::unique_ptr<child_process>> workers_;
};

}  // namespace rowlock::tests

#endif
