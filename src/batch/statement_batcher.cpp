// Batching of calls of several threads into shared statements.
#include "batch/statement_batcher.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include "base/faults.hpp"
#include "base/flushed.hpp"
#include "batch/doubt.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

/// An acquisition of several keys, and of slices of them after a fault.
class bisected_attempt {
 public:
  bisected_attempt(statement_batcher& batcher, std::span<const acquire_request> requests,
                   time_source& time, const statement_batcher::sink& answered)
      : batcher_{batcher},
        requests_{requests},
        time_{time},
        answered_{answered},
        results_(requests.size()),
        doubts_(requests.size()) {}

  void run(const statement_batcher::give_up& is_over) {
    bisect(
        {.count = requests_.size()}, [this](slice some) { send(some); },
        [this](slice some, const std::exception_ptr& why) { failed(some, why); }, is_over);
  }

 private:
  void send(slice some) {
    const auto sent_at = time_.now();
    std::vector<acquire_answer> answers;
    try {
      answers = batcher_.acquire(some.of(requests_));
    } catch (...) {
      note_doubt(some, std::current_exception());
      throw;
    }
    for (std::size_t i = 0; i < some.count; ++i) {
      const auto& doubt = doubts_[some.begin + i];
      const bool is_known = doubt == nullptr || resolves_doubt(answers[i]);
      results_[some.begin + i] = is_known ? acquire_result{std::move(answers[i])}
                                          : acquire_result{{}, copied_fault(doubt)};
    }
    answered_(some, some.of(std::span{results_}), sent_at);
  }

  void note_doubt(slice some, const std::exception_ptr& fault) {
    if (!is_doubt(fault)) return;
    for (auto& doubt : some.of(std::span{doubts_})) doubt = fault;
  }

  void failed(slice some, const std::exception_ptr& fault) {
    for (auto place = some.begin; place < some.begin + some.count; ++place) {
      const auto& doubt = doubts_[place];
      results_[place] = {{}, copied_fault(doubt == nullptr ? fault : doubt)};
    }
    answered_(some, some.of(std::span{results_}), time_.now());
  }

  statement_batcher& batcher_;
  const std::span<const acquire_request> requests_;
  time_source& time_;
  const statement_batcher::sink& answered_;
  std::vector<acquire_result> results_;
  std::vector<std::exception_ptr> doubts_;  // fault after which each may be granted; or null
};

bool all_resolve(const std::vector<acquire_answer>& again) {
  return std::all_of(again.begin(), again.end(), resolves_doubt);
}

batch_schedule::limits limits_of(const store& target, const batching_options& options) {
  const auto has = target.limits();
  return {.in_flight = options.in_flight.value_or(has.statements_at_once),
          .max_batch = options.max_batch,
          .pays_from = has.batching_pays_from};
}

}  // namespace

/// On the stack of its thread; the leader's thread stores the answers or the fault here.
template <class Request, class Answer>
struct statement_batcher::call final : batched_call {
  call(statement_kind shared_as, std::span<const Request> all)
      : batched_call{shared_as, all.size()}, requests{all} {}

  /// Calls of one kind share a statement, so they have the same types.
  [[nodiscard]] call* following() const { return static_cast<call*>(next); }

  const std::span<const Request> requests;
  std::vector<Answer> answers;
  /// For a call to be sent alone: the fault of a shared statement with unknown outcome.
  std::exception_ptr fault;
};

statement_batcher::statement_batcher(store& target, const batching_options& options)
    : target_{target} {
  schedule_.emplace(limits_of(target, options));
}

template <class Answer, class Request, class Send>
std::vector<Answer> statement_batcher::share(statement_kind kind, std::span<const Request> requests,
                                             const Send& send) {
  if (!schedule_) return send(requests);
  if (requests.empty()) return {};
  call<Request, Answer> mine{kind, requests};
  auto role = schedule_->join(mine);
  if (role == batched_call::role::leading) {
    if (mine.next == nullptr) return send_alone(mine, send);
    role = lead(mine, send);
  }
  if (role == batched_call::role::alone) {
    // A release in doubt is not sent again: all calls that shared it have its fault.
    if constexpr (std::is_same_v<Answer, acquire_answer>) {
      if (mine.fault != nullptr) {
        return resolve_doubt(
            mine.fault, [&] { return send(requests); }, all_resolve);
      }
    }
    return send(requests);
  }
  if (mine.fault != nullptr) std::rethrow_exception(mine.fault);
  return std::move(mine.answers);
}

namespace {

/// A refusal writes nothing, so it is quicker than a grant. A release that is flushed is slower
/// than others.
bool is_usual(std::span<const acquire_request> /*sent*/, std::span<const acquire_answer> answers) {
  return std::ranges::any_of(answers, [](const acquire_answer& answer) {
    return answer.status == acquire_status::granted;
  });
}
bool is_usual(std::span<const release_request> sent, std::span<const change_answer> /*answers*/) {
  return !are_to_be_flushed(sent);
}

template <class Requests, class Answers>
batched_call::ending ending_of(const Requests& sent, const Answers& answers) {
  return is_usual(sent, answers) ? batched_call::ending::usual : batched_call::ending::unusual;
}

/// Sends one statement for all calls that follow the leader, and gives each its answers.
template <class Call, class Send>
void send_for_all(Call& leader, const Send& send) {
  std::vector<std::remove_const_t<typename decltype(leader.requests)::element_type>> requests;
  for (auto* each = &leader; each != nullptr; each = each->following()) {
    requests.insert(requests.end(), each->requests.begin(), each->requests.end());
    each->answers.reserve(each->requests.size());  // no allocation may fail after `send`
  }
  auto answers = send(std::span{std::as_const(requests)});
  leader.ended = ending_of(requests, answers);
  auto next = std::make_move_iterator(answers.begin());
  for (auto* each = &leader; each != nullptr; each = each->following()) {
    const auto end = next + static_cast<std::ptrdiff_t>(each->requests.size());
    each->answers.assign(next, end);
    next = end;
  }
}

}  // namespace

template <class Request, class Answer, class Send>
std::vector<Answer> statement_batcher::send_alone(call<Request, Answer>& only, const Send& send) {
  std::vector<Answer> answers;
  try {
    answers = send(only.requests);
  } catch (...) {
    schedule_->end(only, batched_call::role::answered);
    throw;
  }
  only.ended = ending_of(only.requests, answers);
  schedule_->end(only, batched_call::role::answered);
  return answers;
}

template <class Request, class Answer, class Send>
batched_call::role statement_batcher::lead(call<Request, Answer>& leader, const Send& send) {
  auto role = batched_call::role::answered;
  try {
    send_for_all(leader, send);
  } catch (...) {  // one call may be the cause, so each is sent again alone
    const auto fault = std::current_exception();
    const bool is_in_doubt = is_doubt(fault);
    const bool is_for_all = is_in_doubt && leader.kind == statement_kind::release;
    if (!is_for_all) role = batched_call::role::alone;
    if (is_for_all || is_in_doubt) {
      for (auto* each = &leader; each != nullptr; each = each->following()) {
        each->fault = copied_fault(fault);
      }
    }
  }
  schedule_->end(leader, role);
  return role;
}

std::vector<acquire_answer> statement_batcher::acquire(std::span<const acquire_request> requests) {
  return share<acquire_answer>(statement_kind::acquire, requests,
                               [this](std::span<const acquire_request> all) {
                                 if (all.size() != 1) return target_.acquire(all);
                                 target_.home().require();
                                 return target_.do_acquire(all, {});
                               });
}

std::vector<change_answer> statement_batcher::release(std::span<const release_request> requests) {
  return share<change_answer>(
      statement_kind::release, requests,
      [this](std::span<const release_request> all) { return target_.release(all); });
}

acquire_result statement_batcher::acquire(const acquire_request& request, const give_up& is_over) {
  try {
    return {resolving_doubt([&] { return acquire({&request, 1}); }, all_resolve, is_over).front()};
  } catch (...) {
    return {{}, copied_fault(std::current_exception())};
  }
}

void statement_batcher::acquire_each(std::span<const acquire_request> requests, time_source& time,
                                     const sink& answered, const give_up& is_over) {
  if (requests.size() > 1) return bisected_attempt{*this, requests, time, answered}.run(is_over);
  const auto sent_at = time.now();
  auto result = acquire(requests.front(), is_over);
  answered({.count = 1}, {&result, 1}, sent_at);
}

std::size_t statement_batcher::waiting() const { return schedule_ ? schedule_->waiting() : 0; }

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

namespace rowlock {

void check(const batching_options& options) {
  if (options.max_batch == 0 || options.max_batch > largest_set) {
    throw error{errc::misuse, std::to_string(options.max_batch) +
                                  " requests in one statement: allow 1 to " +
                                  std::to_string(largest_set)};
  }
  if (options.in_flight == 0U) {
    throw error{errc::misuse, "no statement may be under way: allow at least one"};
  }
}

batching_store::batching_store(store& target, const batching_options& options)
    : passing_store{target} {
  check(options);
  batcher_ = detail::make_owned_at_home<detail::statement_batcher>(target, options);
}

batching_store::~batching_store() = default;

std::vector<acquire_answer> batching_store::do_acquire(std::span<const acquire_request> requests,
                                                       acquire_mode mode) {
  if (mode.how != acquire_mode::each) return passing_store::do_acquire(requests, mode);
  return batcher_->acquire(requests);
}

std::vector<change_answer> batching_store::do_release(std::span<const release_request> requests) {
  return batcher_->release(requests);
}

std::size_t batching_store::waiting() const {
  home().require();
  return batcher_->waiting();
}

}  // namespace rowlock
