// Which of the calls that meet share a statement, and which thread makes it.
#ifndef ROWLOCK_CORE_SHARED_STATEMENTS_HPP
#define ROWLOCK_CORE_SHARED_STATEMENTS_HPP

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

namespace rowlock::detail {

/// What calls ask for; only calls for the same share a statement.
enum class statement_kind { acquire, release };

/// A call that waits for its statement, on the stack of the thread that made it.
struct meeting_call {
  enum class fate {
    waiting,
    leading,   ///< Its thread makes the statement, for those that `lead` gives.
    answered,  ///< Somebody else's thread has made it.
    alone,     ///< The shared one failed, perhaps because of another call.
  };

  statement_kind kind{};
  std::size_t requests = 0;

  // Guarded by the mutex of shared_statements.
  fate state = fate::waiting;
  std::condition_variable told = {};
};

/// The first that finds no statement under way in its place begins at once. The others stand in a
/// queue; when a statement ends, the first in the queue leads the next one, for all that ask for
/// the same, those included that come until its thread is awake.
///
/// Thread-safety: all members may be called from any thread.
class shared_statements {
 public:
  shared_statements(unsigned in_flight, std::size_t at_most);

  /// True: the caller makes its statement now, and then calls `end`.
  bool try_begin(statement_kind kind);
  /// Returns once the fate of the call is known.
  meeting_call::fate await(meeting_call& call);
  /// Of one that leads: those whose requests are in its statement, itself first.
  std::vector<meeting_call*> lead(meeting_call& leader);
  /// After a statement, of one that began or leads. Tells the others what became of them.
  void end(const std::vector<meeting_call*>& led, meeting_call::fate of_the_others) noexcept;

  [[nodiscard]] std::size_t waiting() const;

 private:
  // These are called with the mutex held.
  [[nodiscard]] bool may_begin(statement_kind kind);
  void begin_next();
  /// Somebody is to lead such a statement, and has not been awake yet to see for whom.
  [[nodiscard]] bool& gathers(statement_kind kind) {
    return gathers_[static_cast<std::size_t>(kind)];
  }

  const unsigned in_flight_;
  const std::size_t at_most_;
  mutable std::mutex mutex_;
  unsigned under_way_ = 0;             // guarded by mutex_
  std::array<bool, 2> gathers_{};      // guarded by mutex_
  std::deque<meeting_call*> waiting_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
