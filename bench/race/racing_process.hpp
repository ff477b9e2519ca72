// One process of many: a child of fork() that never returns to its caller's code.
#ifndef ROWLOCK_BENCH_RACE_RACING_PROCESS_HPP
#define ROWLOCK_BENCH_RACE_RACING_PROCESS_HPP

#include <sys/types.h>

#include <functional>

#include "race/arena.hpp"
#include "race/plan.hpp"
#include "race/protocol.hpp"

namespace rowlock::race {

/// Starts a child that runs `work`, which may throw, and writes what it threw into `told`.
/// Before any thread is started.
pid_t start(const std::function<void()>& work, result_of_process& told);

/// Runs the threads of process `number`, from the stage `entering` until that of `over`.
void race(const plan& does, const protocol& by, const place& where, arena& in, unsigned number);

/// Has the hot key while the others run against it.
void hold_the_hot_key(const protocol& by, place where, arena& in);

}  // namespace rowlock::race

#endif
