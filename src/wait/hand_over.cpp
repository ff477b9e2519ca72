// How a row goes from one thread of the process to the next, without a release.
#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "base/fault_kind.hpp"
#include "wait/wait_loop.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

namespace {

using namespace std::chrono_literals;

/// So many holders in a row, and then other processes have a chance: time for one of them to hear
/// of the release and to ask for the row.
constexpr unsigned most_in_a_row = 64;
constexpr auto head_start = 5ms;

bool can_be_handed_over(const release_request& how) {
  return how.stay_closed == 0us && !how.done_for;
}

bool wants_it_as_it_is(const waiter& next) {
  const auto& request = next.wanted.request;
  return !next.is_asked_for && !request.expected && !request.unless_done;
}

}  // namespace

std::shared_ptr<waiter> waiting_room::take_next(const kept_lease& ended) {
  const auto place = lines_.find(ended.key);
  if (closed_ || place == lines_.end()) return nullptr;
  auto& line = place->second;
  if (ended.handed_over >= most_in_a_row) {
    line.give_way_until(time_->now() + head_start);
    return nullptr;
  }
  auto next = line.waiting.front();
  if (!wants_it_as_it_is(*next)) return nullptr;
  next->is_asked_for = true;
  return next;
}

std::optional<release_answer> waiting_room::hand_over(const kept_lease& ended,
                                                      const release_request& how) {
  if (!can_be_handed_over(how)) return std::nullopt;
  std::shared_ptr<waiter> next;
  {
    const std::scoped_lock lock{mutex_};
    next = take_next(ended);
  }
  if (next == nullptr) return std::nullopt;
  const auto asked_at = time_->now();
  hand_over_answer answer;
  try {
    answer = rows_.hand_over({how, next->wanted.request});
  } catch (...) {
    bool has_left = false;
    {
      const std::scoped_lock lock{mutex_};
      if (kind_of(std::current_exception()) == errc::outcome_unknown) {
        has_left = !next->is_waiting;
        if (!has_left) next->handed_by = how.version;
      }
      not_handed_over(*next);
    }
    if (has_left) taker_.give_back_if_granted(next->wanted, how.version);
    throw;
  }
  wait_ends granted;
  {
    const std::scoped_lock lock{mutex_};
    if (answer.granted) {
      next->is_asked_for = false;
      granted.add_grant(next, {.status = acquire_status::granted, .version = answer.granted},
                        take_out(*next), ended.handed_over + 1);
    } else {
      not_handed_over(*next);
    }
  }
  granted.tell(taker_, asked_at);
  return answer.ended;
}

void waiting_room::not_handed_over(waiter& next) {
  next.is_asked_for = false;
  const auto place = lines_.find(next.wanted.request.key);
  if (place == lines_.end()) return;
  place->second.ask_by(time_->now());
  wake_.notify_one();
}

}  // namespace rowlock::detail
