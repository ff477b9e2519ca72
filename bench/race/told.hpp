// A measurement as JSON.
#ifndef ROWLOCK_BENCH_RACE_TOLD_HPP
#define ROWLOCK_BENCH_RACE_TOLD_HPP

#include <nlohmann/json_fwd.hpp>

#include "race/measurement.hpp"
#include "race/plan.hpp"

namespace rowlock::race {

/// One object, flat; what was not measured is missing. Times in microseconds unless the name says
/// otherwise; `done` are pairs, or refused tries.
nlohmann::ordered_json told(const plan& does, const measured& result);

}  // namespace rowlock::race

#endif
