// What the workers report, in memory that outlives a killed one.
#ifndef ROWLOCK_TESTS_FAULTS_SCORE_SHEET_HPP
#define ROWLOCK_TESTS_FAULTS_SCORE_SHEET_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "faults/history.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::tests {

/// Where a worker's thread is, for faults that strike at a certain moment.
enum class phase : std::uint8_t {
  idle,
  holding,  ///< It has a lease and is outside any transaction that depends on it.
  fenced,   ///< It is in a transaction that has fenced its lease or locked its row.
};

/// Zero to begin with.
struct score {
  std::atomic<std::uint64_t> leases;
  std::atomic<std::uint64_t> row_locks;
  std::atomic<std::uint64_t> refusals;
  std::atomic<std::uint64_t> commits;
  /// Another holder has been granted the key since, and this one tried to commit nevertheless.
  std::atomic<std::uint64_t> late_tries;
  std::atomic<std::uint64_t> late_refusals;  ///< By the fence.
  std::atomic<std::uint64_t> late_commits;
  /// The fence refused a holder that had not checked whether it was late.
  std::atomic<std::uint64_t> surprised;
  std::atomic<std::uint64_t> extended;   ///< Leases, by hand.
  std::atomic<std::uint64_t> asked;      ///< Leases whose holders saw a request to yield.
  std::atomic<std::uint64_t> passed_on;  ///< Leases that were taken over.
  std::atomic<std::uint64_t> unknown_outcomes;
  std::atomic<std::uint64_t> faults;
};

/// A file that the test and its workers have in their memory.
///
/// Thread-safety: all members may be called from any thread of any process.
class score_sheet {
 public:
  static constexpr std::size_t slots = 16;
  static constexpr std::size_t threads_per_slot = 4;

  /// Creates the file.
  static score_sheet create(const std::filesystem::path& file);
  /// Opens one that was created.
  static score_sheet open(const std::filesystem::path& file);
  score_sheet(score_sheet&& other) noexcept;
  score_sheet& operator=(score_sheet&&) = delete;
  ~score_sheet();

  [[nodiscard]] rowlock::tests::score& score() noexcept;
  [[nodiscard]] std::uint64_t acquisitions() noexcept { return score().leases + score().row_locks; }

  /// The workers are to finish what they do.
  void stop() noexcept;
  [[nodiscard]] bool is_stopped() const noexcept;

  [[nodiscard]] std::atomic<phase>& phase_of(std::size_t slot, std::size_t thread) noexcept;
  /// Whether some thread of that worker is there.
  [[nodiscard]] bool is_in(std::size_t slot, phase wanted) noexcept;

  /// One time of believing that a key is held, from now on. `believe` moves its end to `until`;
  /// `acknowledge` says that the database has reported its transaction committed.
  class belief {
   public:
    void believe(boot_clock::time_point until) noexcept;
    void acknowledge() noexcept;

   private:
    friend class score_sheet;
    belief(std::atomic<std::int64_t>* end, std::atomic<bool>* acknowledged)
        : end_{end}, acknowledged_{acknowledged} {}
    std::atomic<std::int64_t>* end_;
    std::atomic<bool>* acknowledged_;
  };
  belief begin_belief(int key, version granted, possession_kind kind) noexcept;
  [[nodiscard]] std::vector<believed> beliefs() const;

 private:
  struct layout;

  explicit score_sheet(int file);

  layout* page_;
};

}  // namespace rowlock::tests

#endif
