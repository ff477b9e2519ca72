// Waits of a test for what other threads do: each ends.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_WAITS_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_WAITS_HPP

#include <future>
#include <stdexcept>

#include "support/patience.hpp"

namespace origins {

using rowlock::tests::comes;

/// What the future gets. Throws what it holds, or `std::logic_error` if nothing comes in time.
template <class Value>
Value value_of(std::future<Value> expected) {
  if (expected.wait_for(rowlock::tests::patience) != std::future_status::ready) {
    throw std::logic_error{"nothing came in time"};
  }
  return expected.get();
}
template <class Value>
Value value_of(std::promise<Value>& expected) {
  return value_of(expected.get_future());
}

}  // namespace origins

#endif
