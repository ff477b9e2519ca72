// The checks of rowlock doctor.
#ifndef ROWLOCK_CLI_CHECKUP_HPP
#define ROWLOCK_CLI_CHECKUP_HPP

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/finding.hpp"
#include "cli/round_trips.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// Checks one database. It writes one row, of a lease that it acquires, renews and releases; the
/// row stays.
///
/// Thread-safety: one thread at a time.
class checkup {
 public:
  /// Called for each check, as soon as it is over. A name does not change between releases.
  using sink = std::function<void(const std::string& name, const finding& found)>;

  /// `rows` must outlive it. `needed_schema` is the last migration that this program knows.
  /// No check begins after `limit`.
  checkup(store& rows, std::string table, int needed_schema, std::chrono::seconds limit);

  /// Runs all checks, in the same order each time. One that needs another check is skipped if that
  /// did not pass. Throws `error` (misuse) for a URL that the driver does not take.
  void run(const sink& report);

 private:
  struct check;
  static const std::vector<check>& checks();

  [[nodiscard]] finding result_of(const check& made);
  finding connect();
  finding check_server();
  finding check_schema();
  finding check_table();
  finding check_locking();
  finding check_fencing();
  finding check_listing();
  finding check_purging();
  finding check_recording();
  finding check_history();
  finding check_settings();
  finding check_round_trip();
  finding check_clock();
  finding check_time_left();
  finding check_lease();

  [[nodiscard]] finding rights_for(inspection::use needed, const std::string& what) const;

  store& rows_;
  const std::string table_;
  const int needed_schema_;
  const std::chrono::seconds limit_;
  const lock_key key_;
  inspection found_;
  std::vector<round_trip> round_trips_;
  std::set<std::string> not_passed_;
};

}  // namespace rowlock::cli

#endif
