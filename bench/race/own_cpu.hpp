// What a protocol adds to the CPU of the client, compared with a bare loop.
#ifndef ROWLOCK_BENCH_RACE_OWN_CPU_HPP
#define ROWLOCK_BENCH_RACE_OWN_CPU_HPP

#include "race/protocol.hpp"

namespace rowlock::race {

/// Half of the pairs are made by the bare loop, in turns and in the same thread, so that both have
/// the same processor at the same time: on a machine that is not at rest, their CPU in rounds of
/// their own differs by more than what one adds.
contender_factory in_turns_with(contender_factory bare, contender_factory ours);

}  // namespace rowlock::race

#endif
