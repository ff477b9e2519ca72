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

/// One statement is under way at a time, and the calls of a kind that meet it share the next one.
/// After one that took longer than twice the quickest recent one of its kind and 0.25 ms a call,
/// the next 256 calls are sent side by side, up to `in_flight` at once; twice as many each further
/// time, at most 16,384, and 256 again once as many calls were quick. (MariaDB, MySQL: all of them
/// where fewer than 17 calls meet. SQLite: none.)
struct batching_options {
  /// The most requests that share a statement, at most 1,000; 1: every call has its own. A call
  /// with more requests is not split.
  std::size_t at_most = 256;
  /// The most shared statements at once; above 256 counts as 256. None: the limit of the store.
  std::optional<unsigned> in_flight = std::nullopt;
};

/// Throws `error` (misuse) for options out of range.
ROWLOCK_EXPORT void check(const batching_options& options);

/// Calls of `acquire` and `release` that arrive while a statement is under way form the next
/// statement of their kind. So many threads share round trips and commits; a call
/// alone is sent at once. Renewals of a `lock_table` are one statement already, and pass through.
///
/// A statement waits for the threads that were just answered, at most as long as the last one took
/// and 20 ms; after a delay that saved no time, some are skipped. Beside a statement that takes
/// over 20 ms, others begin in any case.
///
/// Each call gets its own answers and errors. When a shared statement fails, for any reason, each
/// call is made again alone. The exception is a release in doubt: all calls that shared it get that
/// error. An acquisition in doubt stays so unless the same attempt, made again, resolves it.
///
/// A `lock_table` batches its calls by itself (`lock_options::batching`). If several tables are to
/// share statements, put them over one `batching_store`, each with `batching.at_most = 1`.
///
/// Thread-safety: all members may be called from any thread. The store must outlive it.
class ROWLOCK_EXPORT batching_store final : public passing_store {
 public:
  /// Throws `error` (misuse) for options out of range.
  explicit batching_store(store& target, const batching_options& options = {});
  ~batching_store() override;

  /// How many calls wait for their statement now.
  [[nodiscard]] std::size_t waiting() const;

 protected:
  /// A set is not batched: it has its own statement.
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override;
  std::vector<change_answer> do_release(std::span<const release_request> requests) override;

 private:
  detail::owned_at_home<detail::statement_batcher> batcher_;
};

}  // namespace rowlock

#endif
