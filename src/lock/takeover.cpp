// A lease that another process has passed on.
#include "lock/takeover.hpp"

#include <array>
#include <exception>
#include <utility>

#include "base/pause.hpp"
#include "batch/doubt.hpp"
#include "lock/acquire_attempt.hpp"

namespace rowlock::detail {

namespace {

/// None: the row still has the passed lease, which has not run out.
std::optional<acquire_answer> why_over(const std::optional<row_state>& seen,
                                       const passed_lease& passed) {
  if (seen && seen->owned && seen->version == passed.token && seen->is_live()) return std::nullopt;
  if (!seen || !seen->is_live()) {
    return acquire_answer{.status = acquire_status::stale,
                          .version = seen ? std::optional{seen->version} : std::nullopt};
  }
  return acquire_answer{.status = acquire_status::held,
                        .version = seen->version,
                        .holder = seen->holder,
                        .remaining = seen->remaining};
}

/// One try. The row is read first: a handoff would find a lease that has run out, too.
acquire_answer try_once(store& rows, const acquire_request& next, const passed_lease& passed) {
  const auto read = [&] { return rows.read(std::array{passed.key}).front(); };
  if (auto over = why_over(read(), passed)) return *std::move(over);
  const handoff_request request{
      .ended = {.key = passed.key, .owner = passed.owner, .version = passed.token}, .next = next};
  const auto answer = rows.handoff(request);
  if (answer.granted) return {.status = acquire_status::granted, .version = answer.granted};
  switch (answer.ended) {
    case change_answer::busy:
      break;
    case change_answer::lost:  // also of a text with another owner
      return why_over(read(), passed).value_or(acquire_answer{.status = acquire_status::stale});
    case change_answer::done:  // a store that needs two calls: another caller may be first
      return rows.acquire(std::array{next}).front();
  }
  return {.status = acquire_status::busy};
}

/// After a lost answer an acquisition with the passed version shows what happened: granted if the
/// handoff was made, held if the row still has the passed lease.
acquire_answer try_once_or_twice(store& rows, const acquire_request& next,
                                 const passed_lease& passed) {
  std::exception_ptr doubt;
  try {
    return try_once(rows, next, passed);
  } catch (...) {
    doubt = std::current_exception();
    if (!is_doubt(doubt)) throw;
  }
  return resolve_doubt(
      doubt,
      [&] {
        auto same = next;
        same.expected = passed.token;
        const auto seen = rows.acquire(std::array{same}).front();
        return seen.status == acquire_status::held ? try_once(rows, next, passed) : seen;
      },
      resolves_doubt);
}

}  // namespace

takeover::takeover(lease_keeper& leases, lease_request wanted)
    : queue_wait{leases, no_wait()}, wanted_{std::move(wanted)} {}

attempt_end takeover::run(const passed_lease& passed) {
  const auto correlation_id = wanted_.request.correlation_id;
  auto end = attempt(passed);
  report(passed.key, 1, {&end.granted, end.granted ? 1U : 0U}, end, correlation_id);
  return end;
}

attempt_end takeover::attempt(const passed_lease& passed) {
  leases().start_threads();
  auto tried_at = leases().now();
  acquire_answer answer;
  try {
    try_for_a_moment(leases().time(), leases().closing(), [&] {
      tried_at = leases().now();
      answer = try_once_or_twice(leases().target(), wanted_.request, passed);
      return answer.status != acquire_status::busy;
    });
  } catch (...) {
    return {.fault = std::current_exception()};
  }
  if (answer.status != acquire_status::granted) return {.refused = to_refusal(passed.key, answer)};
  auto granted = leases().take_up(wanted_, answer, tried_at);
  if (granted == nullptr) return {.fault = granted_too_late()};
  return {.granted = std::move(granted)};
}

}  // namespace rowlock::detail
