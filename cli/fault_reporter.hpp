// Messages to the user about faults of a store.
#ifndef ROWLOCK_CLI_FAULT_REPORTER_HPP
#define ROWLOCK_CLI_FAULT_REPORTER_HPP

#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "rowlock/observer.hpp"

namespace rowlock::cli {

/// Prints each fault once until the next grant or renewal, and whether it is retried. Prints
/// nothing for a renewal whose lease is over, nor for an acquisition whose fault the caller gets.
/// Releases get one line. At most 20 lines until the next grant or renewal: a server that starts
/// may return different errors.
///
/// Thread-safety: one thread at a time, as that of an observer is.
class fault_reporter {
 public:
  /// Once `stop` is requested, no try follows for a new grant. Set it before the `lock_table` is
  /// made.
  void stop_with(std::stop_token stop) { stop_ = std::move(stop); }

  void say_once(const fault_event& event);
  void acquired() noexcept;
  void renewed() noexcept { said_.clear(); }
  /// The lease was released or lost.
  void ended() noexcept { holds_ = false; }

  [[nodiscard]] bool is_tried_again(const fault_event& event) const;

 private:
  [[nodiscard]] std::string what_follows(const fault_event& event) const;

  std::stop_token stop_;
  std::set<std::string> said_;  // since the last grant or renewal; an empty text for a release
  bool holds_ = false;
};

}  // namespace rowlock::cli

#endif
