// A store that batches concurrent calls into shared statements.
#ifndef ROWLOCK_PORT_BATCHING_STORE_HPP
#define ROWLOCK_PORT_BATCHING_STORE_HPP

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock {

namespace detail {
class statement_batcher;
}

/// One statement is under way at a time, and calls that arrive meanwhile share the next one of
/// their kind. A statement is slow if it takes longer than twice the quickest recent one of its
/// kind and 0.25 ms a call. After a slow one the next 256 calls are sent side by side, up to
/// `in_flight` at once; after each further one twice as many, at most 16,384; and 256 again once as
/// many calls were quick. (MariaDB, MySQL: always while fewer than 17 calls meet. SQLite: never.)
struct batching_options {
  /// The most requests in one statement, at most 1,000; 1: no sharing. A longer call is not split.
  std::size_t max_batch = 256;
  /// The most statements at once; above 256 counts as 256. None: the store's limit.
  std::optional<unsigned> in_flight = std::nullopt;
};

/// Throws `error` (misuse) for options out of range.
ROWLOCK_EXPORT void check(const batching_options& options);

/// Calls of `acquire` and `release` that arrive while a statement is under way form the next
/// statement of their kind. So many threads share round trips and commits; a lone call is sent at
/// once. Renewals of a `lock_table` are one statement already and pass through.
///
/// A statement waits for the threads that were just answered, at most as long as the last one took
/// and 20 ms; after a delay that saved no time, some are skipped. Beside a statement that takes
/// over 20 ms, others begin in any case.
///
/// Each call gets its own answers and errors. If a shared statement fails, each call is made again
/// alone. Only a release in doubt is not: all calls that shared it get that error. An acquisition
/// in doubt stays so unless the same attempt, made again, resolves it.
///
/// A `lock_table` batches its own calls (`lock_options::batching`). To share statements between
/// several tables, put them over one `batching_store`, each with `batching.max_batch = 1`.
/// Thread-safe. The store must outlive it.
class ROWLOCK_EXPORT batching_store final : public passing_store {
 public:
  /// Throws `error` (misuse) for options out of range.
  explicit batching_store(store& target, const batching_options& options = {});
  ~batching_store() override;

  /// The number of calls that wait for their statement.
  [[nodiscard]] std::size_t waiting() const;

 protected:
  /// A set is not batched.
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override;
  std::vector<change_answer> do_release(std::span<const release_request> requests) override;

 private:
  detail::owned_at_home<detail::statement_batcher> batcher_;
};

}  // namespace rowlock

#endif
