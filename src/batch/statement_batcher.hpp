// Shared statements: calls for several threads in one, with answers and faults of their own.
#ifndef ROWLOCK_BATCH_STATEMENT_BATCHER_HPP
#define ROWLOCK_BATCH_STATEMENT_BATCHER_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "batch/batch_schedule.hpp"
#include "batch/bisect.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/batching_store.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// The answer to one request, or the fault of its call.
struct acquire_result {
  acquire_answer answer;
  std::exception_ptr fault = nullptr;
};

/// Thread-safety: all members may be called from any thread. In a child of fork() every call throws
/// `error` (misuse).
class statement_batcher {
 public:
  /// Of one slice of the requests: when its statement was sent, and the results. Must not throw.
  using sink =
      std::function<void(slice, std::span<acquire_result>, boot_clock::time_point sent_at)>;
  using give_up = std::function<bool()>;

  /// Each call has a statement of its own. `target` must outlive it.
  explicit statement_batcher(store& target) : target_{target} {}
  /// As `batching_store` documents.
  statement_batcher(store& target, const batching_options& options);

  /// For the calls that share no statement.
  [[nodiscard]] store& target() const noexcept { return target_; }

  /// As `store`; throws what the store throws for these requests.
  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests);
  std::vector<change_answer> release(std::span<const release_request> requests);

  /// After `outcome_unknown` the same attempt is sent once more and recognises its own grant,
  /// unless `is_over` answers true then. Never throws: a fault is part of the result.
  acquire_result acquire(const acquire_request& request, const give_up& is_over);
  /// The same for several keys in as few statements as can be. Where one fails, it is bisected, so
  /// that each key has a fault of its own. `answered` gets each slice as soon as its results are
  /// known: a ttl runs, and must not wait for other keys.
  void acquire_each(std::span<const acquire_request> requests, time_source& time,
                    const sink& answered, const give_up& is_over);

  /// Calls that wait for their statement now.
  [[nodiscard]] std::size_t waiting() const;

 private:
  template <class Request, class Answer>
  struct call;

  template <class Answer, class Request, class Send>
  std::vector<Answer> share(statement_kind kind, std::span<const Request> requests,
                            const Send& send);
  template <class Request, class Answer, class Send>
  batched_call::role lead(call<Request, Answer>& leader, const Send& send);

  const home_process home_;
  store& target_;
  std::optional<batch_schedule> schedule_;
};

/// Of an answer that is not `granted`.
refusal to_refusal(const lock_key& key, const acquire_answer& answer);

}  // namespace rowlock::detail

#endif
