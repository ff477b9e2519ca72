// What a store does that has no statement of its own for it.
#include "rowlock/port/store.hpp"

#include <array>

namespace rowlock {

hand_over_answer store::hand_over(const hand_over_request& request) {
  check(request);
  hand_over_answer answer{.ended = release(std::array{request.ended}).front()};
  if (answer.ended != release_answer::released) return answer;
  const auto next = acquire(std::array{request.next}).front();
  if (next.status == acquire_status::granted) answer.granted = next.version;
  return answer;
}

}  // namespace rowlock
