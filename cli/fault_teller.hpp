// What a store could not do, as far as people should know of it.
#ifndef ROWLOCK_CLI_FAULT_TELLER_HPP
#define ROWLOCK_CLI_FAULT_TELLER_HPP

#include <stop_token>
#include <string>
#include <utility>

#include "rowlock/observer.hpp"

namespace rowlock::cli {

/// Says each fault once, however often it comes again until a call succeeds, and whether it is
/// tried again.
///
/// Thread-safety: one thread at a time, as that of an observer is.
class fault_teller {
 public:
  /// Once `stop` is requested, nothing is tried again for a new grant. To be set before the
  /// `lock_table` is made.
  void stop_with(std::stop_token stop) { stop_ = std::move(stop); }

  void say_once(const fault_event& event);
  /// A call has succeeded: the same fault is news again.
  void passed() noexcept { last_.clear(); }

  [[nodiscard]] bool is_tried_again(const fault_event& event) const;

 private:
  [[nodiscard]] std::string what_follows(const fault_event& event) const;

  std::stop_token stop_;
  std::string last_;
};

}  // namespace rowlock::cli

#endif
