// Asks a store for keys, and again as the same attempt when an answer got lost.
#include "core/asking.hpp"

#include <optional>
#include <utility>

#include "core/by_halves.hpp"
#include "core/own_fault.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

/// None: it is not ours.
std::optional<errc> kind_of(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const error& thrown) {
    return thrown.kind();
  } catch (...) {
    return std::nullopt;
  }
}

/// None: it is still not known whether the attempt was granted.
std::optional<acquire_answer> ask_in_doubt(store& rows, const acquire_request& request) {
  try {
    auto answer = rows.acquire({&request, 1}).front();
    // The statement in doubt may be what makes the row busy.
    if (answer.status != acquire_status::busy) return answer;
  } catch (...) {  // the first fault says more
  }
  return std::nullopt;
}

asked_request ask_again(store& rows, const acquire_request& request,
                        const std::exception_ptr& fault) {
  if (auto answer = ask_in_doubt(rows, request)) return {*std::move(answer)};
  return {{}, own_fault(fault)};
}

/// After a fault of a call for several.
class asking_apart {
 public:
  asking_apart(store& rows, std::span<const acquire_request> requests)
      : rows_{rows}, requests_{requests}, asked_(requests.size()), doubts_(requests.size()) {}

  std::vector<asked_request> run(const std::exception_ptr& fault) && {
    const part all{.count = requests_.size()};
    note_doubt(all, fault);
    divide(
        all, fault, [this](part some) { ask(some); },
        [this](part some, const std::exception_ptr& why) { failed(some, why); });
    return std::move(asked_);
  }

 private:
  void ask(part some) {
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
      asked_[place] = is_known ? asked_request{std::move(answers[i])}
                               : asked_request{{}, own_fault(doubts_[place])};
    }
  }

  void note_doubt(part some, const std::exception_ptr& fault) {
    if (kind_of(fault) != errc::outcome_unknown) return;
    for (auto& doubt : some.of(std::span{doubts_})) doubt = fault;
  }

  void failed(part some, const std::exception_ptr& fault) {
    for (auto place = some.begin; place < some.begin + some.count; ++place) {
      const auto& doubt = doubts_[place];
      asked_[place] = {{}, own_fault(doubt == nullptr ? fault : doubt)};
    }
  }

  store& rows_;
  const std::span<const acquire_request> requests_;
  std::vector<asked_request> asked_;
  std::vector<std::exception_ptr> doubts_;  // what each may have been granted in
};

}  // namespace

std::vector<asked_request> ask(store& rows, std::span<const acquire_request> requests) {
  try {
    auto answers = rows.acquire(requests);
    std::vector<asked_request> asked;
    asked.reserve(requests.size());
    for (auto& answer : answers) asked.push_back({std::move(answer)});
    return asked;
  } catch (...) {  // who asks is in another thread, perhaps
    const auto fault = std::current_exception();
    if (requests.size() > 1) return asking_apart{rows, requests}.run(fault);
    if (kind_of(fault) != errc::outcome_unknown) return {{{}, own_fault(fault)}};
    return {ask_again(rows, requests.front(), fault)};
  }
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
