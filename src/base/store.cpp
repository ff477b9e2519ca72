// What a store does that has no statement of its own for it.
#include "rowlock/port/store.hpp"

#include <array>

namespace rowlock {

handoff_answer store::handoff(const handoff_request& request) {
  check(request);
  handoff_answer answer{.ended = release(std::array{request.ended}).front()};
  if (answer.ended != release_answer::released) return answer;
  const auto next = acquire(std::array{request.next}).front();
  if (next.status == acquire_status::granted) answer.granted = next.version;
  return answer;
}

}  // namespace rowlock
