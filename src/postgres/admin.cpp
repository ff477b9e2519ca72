// Notes, and keys taken by force, on PostgreSQL.
#include "postgres/admin.hpp"

#include <span>

#include "postgres/change_granted.hpp"
#include "postgres/request_values.hpp"

namespace rowlock::postgres {

change_answer write_note(store_call& asking, const note_request& request) {
  const auto send = [&](const unanswered<note_request>& /*open*/) {
    return asking.write(asking.statements().write_note,
                        bound_values{request.key.type, request.key.source_id, request.owner.text,
                                     request.version.number, request.note});
  };
  return change_granted(asking, std::span{&request, 1}, send).front();
}

force_answer force_release(store_call& asking, const force_request& request) {
  auto answer = force_answer::busy;
  asking.unless_contended([&] {
    const auto& sql = asking.statements();
    const auto taken =
        asking.write(sql.force_release, bound_values{request.key.type, request.key.source_id,
                                                     request.version.number, request.reason});
    if (!taken.empty()) {
      answer = force_answer::released;
      return;
    }
    const auto seen = asking.look({&request.key}).front();
    const bool is_there = seen && seen->state.version == request.version &&
                          (seen->state.owned || !seen->can_be_taken(sql.clock_skew));
    if (!is_there) answer = force_answer::stale;
  });
  return answer;
}

}  // namespace rowlock::postgres
