// A store whose calls share statements when they meet.
#include "rowlock/port/batching_store.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/faults.hpp"
#include "base/in_batches.hpp"
#include "batch/batch_schedule.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

using detail::batched_call;
using detail::statement_kind;

namespace {

/// With the answers or the fault that the thread of its leader leaves there.
template <class Request, class Answer>
struct call final : batched_call {
  call(statement_kind asks_for, std::span<const Request> all)
      : batched_call{asks_for, all.size()}, asked{all} {}

  const std::span<const Request> asked;
  std::vector<Answer> answers;
  /// Of one that is alone: what may have been done for it, and may not.
  std::exception_ptr fault;
};

bool leaves_open(const acquire_answer& answer) { return answer.status == acquire_status::busy; }
bool leaves_open(release_answer /*answer*/) { return false; }

/// Whether the exception just caught leaves open what became of the rows. To release them again
/// would be answered with lost where it was done; to acquire them again, as the same attempt,
/// tells.
bool is_doubt() {
  try {
    throw;
  } catch (const error& thrown) {
    return thrown.kind() == errc::outcome_unknown;
  } catch (...) {
    return false;
  }
}

}  // namespace

class batching_store::queue {
 public:
  explicit queue(const detail::batch_schedule::limits& limits) : statements_{limits} {}

  template <class Answer, class Request, class Ask>
  std::vector<Answer> ask(statement_kind kind, std::span<const Request> requests, const Ask& ask) {
    home_.require();
    if (requests.empty()) return {};
    call<Request, Answer> mine{kind, requests};
    auto role = statements_.join(mine);
    if (role == batched_call::role::leading) role = lead(mine, ask);
    if (role == batched_call::role::alone) return execute_alone(mine, ask);
    if (mine.fault != nullptr) std::rethrow_exception(mine.fault);
    return std::move(mine.answers);
  }

  [[nodiscard]] std::size_t waiting() const {
    home_.require();
    return statements_.waiting();
  }

 private:
  /// After a shared statement that may have been made, the same attempt again tells, unless that
  /// statement still is what makes the row busy.
  template <class Request, class Answer, class Ask>
  static std::vector<Answer> execute_alone(const call<Request, Answer>& mine, const Ask& ask) {
    if (mine.fault == nullptr) return ask(mine.asked);
    try {
      auto answers = ask(mine.asked);
      const auto is_open = [](const Answer& answer) { return leaves_open(answer); };
      if (std::none_of(answers.begin(), answers.end(), is_open)) return answers;
    } catch (...) {  // the first fault says more
    }
    std::rethrow_exception(mine.fault);
  }

  /// Makes the statement for all that share it. What became of them.
  template <class Request, class Answer, class Ask>
  batched_call::role lead(call<Request, Answer>& leader, const Ask& ask) {
    auto role = batched_call::role::answered;
    try {
      share(leader, ask);
    } catch (...) {  // it may be the fault of one of them: each meets its own alone
      const bool is_in_doubt = is_doubt();
      const bool is_told_to_all =
          leader.next == nullptr || (is_in_doubt && leader.kind == statement_kind::release);
      if (!is_told_to_all) role = batched_call::role::alone;
      if (is_told_to_all || is_in_doubt) {
        for (auto* each = &leader; each != nullptr; each = following<Request, Answer>(*each)) {
          each->fault = detail::copied_fault(std::current_exception());
        }
      }
    }
    statements_.end(leader, role);
    return role;
  }

  template <class Request, class Answer, class Ask>
  static void share(call<Request, Answer>& leader, const Ask& ask) {
    if (leader.next == nullptr) {
      leader.answers = ask(leader.asked);
      return;
    }
    std::vector<Request> requests;
    for (auto* each = &leader; each != nullptr; each = following<Request, Answer>(*each)) {
      requests.insert(requests.end(), each->asked.begin(), each->asked.end());
      each->answers.reserve(each->asked.size());  // nothing may fail once it is done
    }
    auto answers = ask(std::span<const Request>{requests});
    auto next = std::make_move_iterator(answers.begin());
    for (auto* each = &leader; each != nullptr; each = following<Request, Answer>(*each)) {
      const auto end = next + static_cast<std::ptrdiff_t>(each->asked.size());
      each->answers.assign(next, end);
      next = end;
    }
  }

  /// Calls of one kind share a statement, so they have the same types.
  template <class Request, class Answer>
  static call<Request, Answer>* following(const batched_call& before) {
    return static_cast<call<Request, Answer>*>(before.next);
  }

  const detail::home_process home_;
  detail::batch_schedule statements_;
};

void check(const batching_options& options) {
  if (options.at_most == 0 || options.at_most > detail::longest_batch) {
    throw error{errc::misuse, std::to_string(options.at_most) +
                                  " requests in one statement: allow 1 to " +
                                  std::to_string(detail::longest_batch)};
  }
  if (options.in_flight == 0U) {
    throw error{errc::misuse, "no statement may be under way: allow at least one"};
  }
}

batching_store::batching_store(store& asked, const batching_options& options)
    : passing_store{asked} {
  check(options);
  queue_ = detail::make_owned_at_home<queue>(detail::batch_schedule::limits{
      .in_flight = options.in_flight.value_or(asked.statements_at_once()),
      .at_most = options.at_most,
      .pays_from = options.at_most == 1 ? std::numeric_limits<std::size_t>::max()
                                        : asked.sharing_pays_from()});
}

batching_store::~batching_store() = default;

std::vector<acquire_answer> batching_store::acquire(std::span<const acquire_request> requests) {
  return queue_->ask<acquire_answer>(
      statement_kind::acquire, requests,
      [this](std::span<const acquire_request> all) { return asked().acquire(all); });
}

std::vector<release_answer> batching_store::release(std::span<const release_request> requests) {
  return queue_->ask<release_answer>(
      statement_kind::release, requests,
      [this](std::span<const release_request> all) { return asked().release(all); });
}

std::size_t batching_store::waiting() const { return queue_->waiting(); }

}  // namespace rowlock
