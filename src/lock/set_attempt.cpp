// One attempt to acquire several rows, all or any, with its place in line.
#include "lock/set_attempt.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "base/faults.hpp"
#include "base/pause.hpp"
#include "batch/doubt.hpp"
#include "lock/acquire_attempt.hpp"
#include "rowlock/error.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

namespace {

using answers = std::vector<acquire_answer>;

answers send(store& target, const std::vector<acquire_request>& requests,
             std::optional<std::size_t> limit, const std::function<bool()>& is_over) {
  const auto attempt = [&] {
    return limit ? target.acquire(requests, {acquire_mode::any, *limit})
                 : target.acquire(requests, {acquire_mode::all_or_none});
  };
  // The statement in doubt may have caused a refusal, so only a grant resolves the doubt.
  const auto is_any_granted = [](const answers& again) {
    return std::any_of(again.begin(), again.end(), [](const acquire_answer& answer) {
      return answer.status == acquire_status::granted;
    });
  };
  return resolving_doubt(attempt, is_any_granted, is_over);
}

refusal why_not(const set_request& wanted, const answers& answered) {
  for (std::size_t i = 0; i < answered.size(); ++i) {
    if (answered[i].status == acquire_status::withheld) continue;
    return to_refusal(wanted.leases[i].request.key, answered[i]);
  }
  const auto reason = wanted.limit ? refusal_reason::held : refusal_reason::busy;
  return {.reason = reason, .key = wanted.leases.front().request.key};
}

/// Returns nothing if the deadline of one lease has passed; all grants are then released.
std::optional<lease_states> take_up(lease_keeper& leases, set_request& wanted,
                                    const answers& answered, boot_clock::time_point tried_at) {
  lease_states kept;
  bool is_in_time = true;
  for (std::size_t i = 0; i < answered.size(); ++i) {
    if (answered[i].status != acquire_status::granted) continue;
    if (auto one = leases.take_up(wanted.leases[i], answered[i], tried_at)) {
      kept.push_back(std::move(one));
    } else {
      is_in_time = false;
    }
  }
  if (is_in_time) return kept;
  for (const auto& each : kept) {
    each->give_up_hold();
    leases.releaser().release_later(*each);
  }
  return std::nullopt;
}

/// A key that no row has: its type is empty.
lock_key line_of(std::string_view name, std::vector<lock_key> rows) {
  std::ranges::sort(rows);
  std::string all{name};
  const auto add = [&all](const std::string& text) {
    all += ' ' + std::to_string(text.size()) + ':' + text;
  };
  for (const auto& row : rows) {
    add(row.type);
    add(row.source_id);
  }
  return {.type = "", .source_id = std::move(all)};
}

}  // namespace

set_attempt::set_attempt(lease_keeper& leases, const acquire_options& options,
                         std::string_view name, std::vector<lock_key> rows)
    : queue_wait{leases, options.wait, options.ask},
      rows_{std::move(rows)},
      line_{is_patient() ? line_of(name, rows_) : lock_key{}},
      holder_{options.holder.value_or(leases.options().holder)},
      correlation_id_{options.correlation_id.value_or("")},
      stop_{options.wait.stop, leases.closing()},
      owner_{make_owner_id()} {}

set_attempt::~set_attempt() { leave_line(); }

void set_attempt::begin_anew() {
  owner_ = make_owner_id();
  doubt_ = nullptr;
  keeps_rows_ = false;
}

void set_attempt::leave_line() noexcept {
  if (const auto leaving = queued()) leases().waiting().withdraw(*leaving, taken_);
}

void set_attempt::await_turn() {
  if (turn_ != nullptr || end_) return;
  leases().start_threads();
  if (is_patient() && leases().waiting().must_wait(line_)) wait_after({}, {});
}

void set_attempt::refused(obstacle met) {
  taken_.clear();
  leases().outage().answered();
  if (is_contention(met.why) && is_patient()) {
    keeps_rows_ = met.keeps_rows;
    wait_after({.refused = std::move(met.why), .keeps_rows = keeps_rows_}, std::move(met.rows));
  } else {
    end_ = attempt_end{.refused = std::move(met.why)};
  }
}

void set_attempt::failed(const std::exception_ptr& fault) {
  if (is_too_late_ || !outlasts(policy(), fault)) {
    end_ = attempt_end{.fault = fault};
    return;
  }
  if (doubt_ == nullptr && is_doubt(fault)) doubt_ = fault;
  // Other threads get copies.
  leases().outage().failed(1, copied_fault(fault), leases().now());
  wait_after({.fault = copied_fault(fault), .keeps_rows = keeps_rows_}, {});
}

void set_attempt::wait_after(const wait_queue::try_result& how, std::vector<lock_key> awaited) {
  if (stop_.token().stop_requested()) {
    end_ = refused_as(refusal_reason::stopped, how.refused.value_or(refusal{.key = rows_.front()}));
    return;
  }
  const bool has_tried = how.refused || how.fault != nullptr;
  const bool is_over = has_tried && leases().now() >= until();
  if (const auto waiting = queued()) {
    // Also the last try: it is for all in line whose time is over.
    leases().waiting().report_try(waiting, how, std::move(awaited), tried_at_);
  } else if (turn_ == nullptr && !is_over) {
    try {
      join_line(how, std::move(awaited));
    } catch (...) {
      end_ = attempt_end{.fault = std::current_exception()};
      return;
    }
  }
  if (is_over) {
    end_ = how.refused ? refused_as(refusal_reason::timed_out, *how.refused)
                       : attempt_end{.fault = how.fault};
    return;
  }
  auto end = await(*turn_, stop_.token());
  if (end.refused || end.fault != nullptr) end_ = std::move(end);
}

void set_attempt::join_line(const wait_queue::try_result& how, std::vector<lock_key> awaited) {
  turn_ = std::make_shared<mailbox<attempt_end>>();
  join(
      {.key = line_, .owner = owner_, .holder = holder_}, how,
      [answer = turn_](wait_result end) {
        answer->set({.refused = std::move(end.refused), .fault = std::move(end.fault)});
      },
      [answer = turn_] { answer->set({}); }, std::move(awaited));
}

std::optional<refusal> set_attempt::over() const {
  if (doubt_ != nullptr) std::rethrow_exception(doubt_);
  if (end_->fault != nullptr) std::rethrow_exception(end_->fault);
  auto why = end_->refused;
  if (why->key == line_) why->key = rows_.front();
  return why;
}

set_answer set_attempt::try_for(set_request& wanted) {
  std::vector<acquire_request> requests;
  requests.reserve(wanted.leases.size());
  for (const auto& each : wanted.leases) requests.push_back(each.request);
  const auto tried_at = leases().now();
  answers answered;
  try {
    answered = send(leases().target(), requests, wanted.limit, [this] { return is_over(); });
  } catch (...) {
    const auto fault = std::current_exception();
    if (outlasts(policy(), fault)) {
      leases().events().emit_fault(fault_operation::acquire, requests.front().key, requests.size(),
                                   fault, leases().now() - tried_at, correlation_id_);
    }
    throw;
  }
  auto kept = take_up(leases(), wanted, answered, tried_at);
  if (!kept) {
    begin_anew();
    is_too_late_ = true;
    std::rethrow_exception(granted_too_late());
  }
  if (kept->empty()) return {.refused = why_not(wanted, answered)};
  leases().outage().answered();
  for (const auto& each : *kept) taken_.push_back(each->key);
  queue_wait::report(kept->front()->key, kept->size(), *kept, {}, correlation_id_);
  return {.granted = *std::move(kept)};
}

void set_attempt::report(const attempt_end& end) {
  queue_wait::report(rows_.front(), rows_.size(), {}, end, correlation_id_);
}

}  // namespace rowlock::detail
