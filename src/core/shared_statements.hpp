// Which of the calls that meet share a statement, and which thread makes it.
#ifndef ROWLOCK_CORE_SHARED_STATEMENTS_HPP
#define ROWLOCK_CORE_SHARED_STATEMENTS_HPP

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

namespace rowlock::detail {

/// What calls ask for; only calls for the same share a statement.
enum class statement_kind { acquire, release };

using statement_id = std::uint64_t;

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
  statement_id statement = 0;  // of one that leads
  std::condition_variable told = {};
};

/// The first that finds no statement under way begins at once. The others stand in a queue; when a
/// statement ends, the first in the queue leads the next one, for all that ask for the same, those
/// included that come until its thread is awake. Beside statements that take unusually long others
/// begin, `in_flight` at most.
///
/// Thread-safety: all members may be called from any thread.
class shared_statements {
 public:
  /// A statement that takes longer than `usual_time` is stuck, or the disk is very slow.
  shared_statements(unsigned in_flight, std::size_t at_most,
                    std::chrono::milliseconds usual_time = std::chrono::milliseconds{20});

  /// Some: the caller makes its statement now, and then calls `end`.
  std::optional<statement_id> try_begin(statement_kind kind);
  /// Returns once the fate of the call is known.
  meeting_call::fate await(meeting_call& call);
  /// Of one that leads: those whose requests are in its statement, itself first.
  std::vector<meeting_call*> lead(meeting_call& leader);
  /// After a statement, of one that began or leads. Tells the others what became of them.
  void end(statement_id ended, const std::vector<meeting_call*>& led,
           meeting_call::fate of_the_others) noexcept;

  [[nodiscard]] std::size_t waiting() const;

 private:
  using clock = std::chrono::steady_clock;

  // These are called with the mutex held.
  [[nodiscard]] bool may_begin(statement_kind kind);
  void begin_next();
  statement_id begin();
  /// Somebody is to lead such a statement, and has not been awake yet to see for whom.
  [[nodiscard]] bool& gathers(statement_kind kind) {
    return gathers_[static_cast<std::size_t>(kind)];
  }

  const unsigned in_flight_;
  const std::size_t at_most_;
  const std::chrono::milliseconds usual_time_;
  mutable std::mutex mutex_;
  unsigned under_way_ = 0;    // guarded by mutex_
  statement_id last_id_ = 0;  // guarded by mutex_
  /// None begins beside it until it has taken longer than usual.
  struct statement {
    statement_id id;
    clock::time_point began;
  };
  std::optional<statement> youngest_;  // guarded by mutex_
  std::array<bool, 2> gathers_{};      // guarded by mutex_
  std::deque<meeting_call*> waiting_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
