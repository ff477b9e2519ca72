// Calls of the store port that a benchmark repeats.
#ifndef ROWLOCK_BENCH_PORT_HPP
#define ROWLOCK_BENCH_PORT_HPP

#include <chrono>
#include <stdexcept>

#include "rowlock/port/store.hpp"

namespace rowlock::bench {

inline acquire_request request_for(const lock_key& key) {
  return {.key = key, .owner = make_owner_id(), .holder = "bench", .ttl = std::chrono::seconds{60}};
}

inline bool release(store& locks, const acquire_request& granted, version token) {
  const release_request request{.key = granted.key, .owner = granted.owner, .version = token};
  return locks.release({&request, 1}).front() == change_answer::done;
}

/// Throws when that does not succeed.
inline void hold_once(store& locks, const lock_key& key) {
  const auto request = request_for(key);
  const auto answer = locks.acquire({&request, 1}).front();
  if (answer.status != acquire_status::granted || !release(locks, request, *answer.version)) {
    throw std::runtime_error{"not granted, or not released"};
  }
}

}  // namespace rowlock::bench

#endif
