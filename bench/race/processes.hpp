// The processes of one measurement.
#ifndef ROWLOCK_BENCH_RACE_PROCESSES_HPP
#define ROWLOCK_BENCH_RACE_PROCESSES_HPP

#include <sys/types.h>

#include <vector>

#include "race/plan.hpp"
#include "race/protocol.hpp"
#include "race/shared_state.hpp"

namespace rowlock::race {

/// Children of fork(), which never return to the code of their parent. They follow
/// `shared_state::now`. Those that are left at its end are killed.
class processes {
 public:
  /// Before this process has started any thread. All arguments must outlive it.
  processes(const plan& does, const protocol& by, const place& where, shared_state& state);
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;
  ~processes();

  /// Until all threads are connected and the key is held, if it is to be. Throws std::runtime_error
  /// after a minute, and when a process ends.
  void await_ready();
  /// After the stage `over`. Throws std::runtime_error if a process has failed.
  tally join();

 private:
  void throw_if_one_has_ended();
  [[noreturn]] void fail() const;

  const plan& plan_;
  bool has_holder_;
  shared_state& state_;
  std::vector<pid_t> children_;
};

}  // namespace rowlock::race

#endif
