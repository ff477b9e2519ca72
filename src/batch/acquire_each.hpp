// Asks a store for keys, and again as the same attempt when an answer got lost.
#ifndef ROWLOCK_BATCH_ACQUIRE_EACH_HPP
#define ROWLOCK_BATCH_ACQUIRE_EACH_HPP

#include <exception>
#include <functional>
#include <span>

#include "batch/bisect.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// The answer to one request, or why there is none.
struct acquire_result {
  acquire_answer answer;
  std::exception_ptr fault = nullptr;
};

/// A grant whose answer got lost is recognised, unless `give_up` answers true then. What the store
/// throws, whatever it is, is in the answer.
acquire_result acquire_each(store& rows, const acquire_request& request,
                            const std::function<bool()>& give_up);

/// The same for several in as few calls as can be; if that fails, each has a fault of its own only,
/// as far as that can be told (`bisect`). `answered` is told of each part once it is known, and
/// when it was asked for; it must not throw. Grants must not wait for other keys, as their ttl
/// runs.
void acquire_each(store& rows, std::span<const acquire_request> requests, time_source& time,
                  const std::function<void(slice, std::span<acquire_result>,
                                           boot_clock::time_point asked_at)>& answered,
                  const std::function<bool()>& give_up);

/// Of an answer that is not `granted`.
refusal to_refusal(const lock_key& key, const acquire_answer& answer);

}  // namespace rowlock::detail

#endif
