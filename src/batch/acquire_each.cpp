// Asks a store for keys, and again as the same attempt when an answer got lost.
#include "batch/acquire_each.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "base/faults.hpp"

namespace rowlock::detail {

namespace {

/// None: it is still not known whether the attempt was granted.
std::optional<acquire_answer> resolve_doubt(store& rows, const acquire_request& request) {
  try {
    auto answer = rows.acquire({&request, 1}).front();
    // The statement in doubt may be what makes the row busy.
    if (answer.status != acquire_status::busy) return answer;
  } catch (...) {  // the first fault says more
  }
  return std::nullopt;
}

/// A call for several, and for parts of them after a fault.
class batch_attempt {
 public:
  using sink = std::function<void(slice, std::span<acquire_result>, boot_clock::time_point)>;

  batch_attempt(store& rows, std::span<const acquire_request> requests, time_source& time,
                const sink& answered)
      : rows_{rows},
        requests_{requests},
        time_{time},
        answered_{answered},
        asked_(requests.size()),
        doubts_(requests.size()) {}

  void run(const std::function<bool()>& give_up) {
    bisect(
        {.count = requests_.size()}, [this](slice some) { acquire_each(some); },
        [this](slice some, const std::exception_ptr& why) { failed(some, why); }, give_up);
  }

 private:
  void acquire_each(slice some) {
    const auto asked_at = time_.now();
    std::vector<acquire_answer> answers;
    try {
      answers = rows_.acquire(some.of(requests_));
    } catch (...) {
      note_doubt(some, std::current_exception());
      throw;
    }
    for (std::size_t i = 0; i < some.count; ++i) {
      const auto place = some.begin + i;
      // A statement in doubt may be what makes the row busy.
      const bool is_known = doubts_[place] == nullptr || answers[i].status != acquire_status::busy;
      asked_[place] = is_known ? acquire_result{std::move(answers[i])}
                               : acquire_result{{}, copied_fault(doubts_[place])};
    }
    answered_(some, some.of(std::span{asked_}), asked_at);
  }

  void note_doubt(slice some, const std::exception_ptr& fault) {
    if (kind_of(fault) != errc::outcome_unknown) return;
    for (auto& doubt : some.of(std::span{doubts_})) doubt = fault;
  }

  void failed(slice some, const std::exception_ptr& fault) {
    for (auto place = some.begin; place < some.begin + some.count; ++place) {
      const auto& doubt = doubts_[place];
      asked_[place] = {{}, copied_fault(doubt == nullptr ? fault : doubt)};
    }
    answered_(some, some.of(std::span{asked_}), time_.now());
  }

  store& rows_;
  const std::span<const acquire_request> requests_;
  time_source& time_;
  const sink& answered_;
  std::vector<acquire_result> asked_;
  std::vector<std::exception_ptr> doubts_;  // what each may have been granted in
};

}  // namespace

acquire_result acquire_each(store& rows, const acquire_request& request,
                            const std::function<bool()>& give_up) {
  try {
    return {rows.acquire({&request, 1}).front()};
  } catch (...) {  // who asks is in another thread, perhaps
    const auto fault = std::current_exception();
    if (kind_of(fault) == errc::outcome_unknown && !give_up()) {
      if (auto answer = resolve_doubt(rows, request)) return {*std::move(answer)};
    }
    return {{}, copied_fault(fault)};
  }
}

void acquire_each(
    store& rows, std::span<const acquire_request> requests, time_source& time,
    const std::function<void(slice, std::span<acquire_result>, boot_clock::time_point)>& answered,
    const std::function<bool()>& give_up) {
  if (requests.size() > 1) return batch_attempt{rows, requests, time, answered}.run(give_up);
  const auto asked_at = time.now();
  auto asked = acquire_each(rows, requests.front(), give_up);
  answered({.count = 1}, {&asked, 1}, asked_at);
}

refusal to_refusal(const lock_key& key, const acquire_answer& answer) {
  refusal refused{.key = key,
                  .holder = answer.holder,
                  .remaining = answer.remaining,
                  .current = answer.version};
  switch (answer.status) {
    case acquire_status::held:
      refused.reason = refusal_reason::held;
      break;
    case acquire_status::stale:
      refused.reason = refusal_reason::stale;
      break;
    case acquire_status::done:
      refused.reason = refusal_reason::already_done;
      refused.done = answer.done;
      break;
    default:
      refused.reason = refusal_reason::busy;
  }
  return refused;
}

}  // namespace rowlock::detail
