// Asks a store for keys, and again as the same attempt when an answer got lost.
#ifndef ROWLOCK_CORE_ASKING_HPP
#define ROWLOCK_CORE_ASKING_HPP

#include <exception>
#include <span>
#include <vector>

#include "rowlock/refusal.hpp"
#include "rowlock/store.hpp"

namespace rowlock::detail {

/// The answer to one request, or why there is none.
struct asked_request {
  acquire_answer answer;
  std::exception_ptr fault = nullptr;
};

/// One answer per request, in their order. A grant whose answer got lost is recognised. What the
/// store throws, whatever it is, is in the answers; of several requests each has a fault of its own
/// only, as far as that can be told (`by_halves`).
std::vector<asked_request> ask(store& rows, std::span<const acquire_request> requests);

/// Of an answer that is not `granted`.
refusal to_refusal(const lock_key& key, const acquire_answer& answer);

}  // namespace rowlock::detail

#endif
