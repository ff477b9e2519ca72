// The keys that are taken.
#ifndef ROWLOCK_BENCH_RACE_KEYS_HPP
#define ROWLOCK_BENCH_RACE_KEYS_HPP

#include <string>

#include "rowlock/lock_key.hpp"

namespace rowlock::race {

/// The one that all want.
inline lock_key hot_key() { return {.type = "hot", .source_id = "key"}; }

/// That of one thread among all threads of all processes.
inline lock_key key_of(unsigned thread) {
  return {.type = "own", .source_id = std::to_string(thread)};
}

}  // namespace rowlock::race

#endif
