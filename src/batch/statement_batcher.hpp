// Batching of calls of several threads into shared statements.
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

/// Calls of several threads share statements; each call gets its own answers and its own fault.
///
/// Thread-safety: all members may be called from any thread, but not in a child of fork(): the
/// owner checks that.
class statement_batcher {
 public:
  /// Gets the results of one slice of the requests, and when its statement was sent. Must not
  /// throw.
  using sink =
      std::function<void(slice, std::span<acquire_result>, boot_clock::time_point sent_at)>;
  using give_up = std::function<bool()>;

  /// Each call has its own statement. `target` must outlive this object.
  explicit statement_batcher(store& target) : target_{target} {}
  /// As `batching_store` documents.
  statement_batcher(store& target, const batching_options& options);

  /// For calls that share no statement.
  [[nodiscard]] store& target() const noexcept { return target_; }

  /// As `store`; throws what the store throws for these requests.
  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests);
  std::vector<change_answer> release(std::span<const release_request> requests);

  /// After `outcome_unknown` the same attempt is sent once more and recognises its own grant,
  /// unless `is_over` returns true then. Never throws: a fault is part of the result.
  acquire_result acquire(const acquire_request& request, const give_up& is_over);
  /// The same for several keys, in as few statements as possible. A failed statement is bisected,
  /// so that each key has its own fault. `answered` gets each slice as soon as its results are
  /// known: its ttls are running, and must not wait for other keys.
  void acquire_each(std::span<const acquire_request> requests, time_source& time,
                    const sink& answered, const give_up& is_over);

  /// Number of calls that wait for their statement.
  [[nodiscard]] std::size_t waiting() const;

 private:
  template <class Request, class Answer>
  struct call;

  template <class Answer, class Request, class Send>
  std::vector<Answer> share(statement_kind kind, std::span<const Request> requests,
                            const Send& send);
  /// For a call without followers.
  template <class Request, class Answer, class Send>
  std::vector<Answer> send_alone(call<Request, Answer>& only, const Send& send);
  template <class Request, class Answer, class Send>
  batched_call::role lead(call<Request, Answer>& leader, const Send& send);

  store& target_;
  std::optional<batch_schedule> schedule_;
};

/// For an answer that is not `granted`.
refusal to_refusal(const lock_key& key, const acquire_answer& answer);

}  // namespace rowlock::detail

#endif
