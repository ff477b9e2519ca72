// What a store could not do, as far as people should know of it.
#ifndef ROWLOCK_CLI_FAULT_TELLER_HPP
#define ROWLOCK_CLI_FAULT_TELLER_HPP

#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "rowlock/observer.hpp"

namespace rowlock::cli {

/// Says each fault once, however often it comes again until a grant or a renewal, and whether it is
/// tried again. Of a renewal whose lease is over nothing, nor of an acquisition whose fault the
/// caller gets; of releases one line, and at most 20 lines in all until then: a server that starts
/// may answer something else each time.
///
/// Thread-safety: one thread at a time, as that of an observer is.
class fault_teller {
 public:
  /// Once `stop` is requested, nothing is tried again for a new grant. To be set before the
  /// `lock_table` is made.
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
  std::set<std::string> said_;  // since the last grant or renewal; of a release an empty text
  bool holds_ = false;
};

}  // namespace rowlock::cli

#endif
