// The thread that makes the store calls of all waiters.
#include "wait/wait_loop.hpp"

#include <utility>

#include "base/pause.hpp"
#include "base/threads.hpp"
#include "batch/bisect.hpp"
#include "rowlock/error.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

wait_loop::wait_loop(wait_queue& queue, statement_batcher& batcher,
                     std::shared_ptr<time_source> time, outage& away, fault_sink faults,
                     hint_sinks hints)
    : queue_{queue},
      batcher_{batcher},
      time_{std::move(time)},
      outage_{away},
      faults_{std::move(faults)},
      hints_{std::move(hints)} {}

void wait_loop::start() {
  {
    const checked_lock lock{starting_};
    if (!thread_.joinable()) {
      start_thread("wait for keys with", [this] {
        starting_.assume_locked();
        thread_ = std::thread{[this] { run(); }};
      });
    }
  }
  listen();
}

void wait_loop::listen() {
  const checked_lock lock{starting_};  // not the queue's: the store may notify it at once
  if (has_listened_) return;
  subscription_ = batcher_.target().listen(*this);
  has_listened_ = true;
  if (subscription_ != nullptr && subscription_->names_keys()) queue_.use_notifications();
}

void wait_loop::close() {
  const checked_lock lock{starting_};
  subscription_.reset();
  if (thread_.joinable()) thread_.join();
}

void wait_loop::run() {
  while (const auto work = queue_.await_work()) {
    if (work->heads.empty()) {
      read_all(work->keys);
    } else {
      try_heads(work->heads);
    }
  }
}

void wait_loop::try_heads(const waiters& heads) {
  const std::vector<std::shared_ptr<waiter>> all{heads.begin(), heads.end()};
  std::vector<acquire_request> requests;
  requests.reserve(all.size());
  for (const auto& head : all) requests.push_back(head->request);
  batcher_.acquire_each(
      requests, *time_,
      [&](slice some, std::span<acquire_result> results, boot_clock::time_point sent_at) {
        const auto tried = some.of(std::span{all});
        note_faults(tried, results, sent_at);
        queue_.answered(tried, results, sent_at);
      },
      [this] { return queue_.is_stopped(); });
}

void wait_loop::note_faults(std::span<const std::shared_ptr<waiter>> heads,
                            std::span<const acquire_result> results,
                            boot_clock::time_point tried_at) {
  std::vector<std::size_t> outlasted;
  bool is_answered = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& fault = results[i].fault;
    is_answered = is_answered || fault == nullptr;
    if (fault != nullptr && outlasts(heads[i]->policy, fault)) outlasted.push_back(i);
  }
  if (is_answered) outage_.answered();
  if (outlasted.empty()) return;
  const auto first = outlasted.front();
  const auto now = time_->now();
  if (!is_answered) outage_.failed(outlasted.size(), results[first].fault, now);
  faults_(heads[first]->request.key, outlasted.size(), results[first].fault, now - tried_at);
}

/// A failed call for a single key is repeated: another connection may still work.
std::vector<std::optional<row_state>> wait_loop::watch(std::span<const lock_key> keys) {
  auto& store = batcher_.target();
  if (keys.size() > 1) return store.read(keys, read_mode::watched);
  try {
    return store.read(keys, read_mode::watched);
  } catch (const error& thrown) {
    const bool is_permanent = thrown.kind() == errc::rejected || thrown.kind() == errc::misuse;
    if (is_permanent || queue_.is_stopped()) throw;
  }
  return store.read(keys, read_mode::watched);
}

void wait_loop::read_all(std::span<const lock_key> keys) {
  const auto began = time_->now();
  bisect(
      {.count = keys.size()},
      [&](slice some) {
        const auto states = watch(some.of(keys));
        outage_.answered();
        ask_holders(some.of(keys), states);
        queue_.were_read(some.of(keys), states);
      },
      [&](slice some, const std::exception_ptr& fault) {
        const auto waited_for = queue_.read_failed(some.of(keys), fault);
        if (waited_for == 0) return;
        const auto now = time_->now();
        outage_.failed(waited_for, fault, now);
        faults_(keys[some.begin], waited_for, fault, now - began);
      },
      [this] { return queue_.is_stopped(); });
}

void wait_loop::ask_holders(std::span<const lock_key> keys,
                            std::span<const std::optional<row_state>> seen) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!seen[i] || !seen[i]->owned || !seen[i]->is_live() || seen[i]->asked) continue;
    const auto asker = queue_.asker_for(keys[i]);
    if (!asker) continue;
    try {
      batcher_.target().ask({.key = keys[i],
                             .version = seen[i]->version,
                             .by = *asker,
                             .reason = "a caller waits for the key"});
    } catch (const error&) {  // the next read asks again
    }
  }
}

std::optional<change_answer> wait_loop::handoff(const release_request& ended, unsigned handoffs) {
  const bool can_be_handed_off = ended.stay_closed.count() == 0 && !ended.done_for;
  if (!can_be_handed_off) return std::nullopt;
  const auto next = queue_.begin_handoff(ended.key, handoffs);
  if (next == nullptr) return std::nullopt;
  const auto sent_at = time_->now();
  handoff_answer answer;
  try {
    answer = batcher_.target().handoff({ended, next->request});
  } catch (...) {
    queue_.handoff_failed(next, std::current_exception(), ended.version);
    throw;
  }
  if (answer.granted) {
    queue_.end_handoff(
        next,
        {{.status = acquire_status::granted, .version = answer.granted}, sent_at, handoffs + 1});
  } else {
    queue_.handoff_refused(*next);
  }
  return answer.ended;
}

}  // namespace rowlock::detail
