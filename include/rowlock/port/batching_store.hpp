// A store whose calls share statements when they meet.
#ifndef ROWLOCK_PORT_BATCHING_STORE_HPP
#define ROWLOCK_PORT_BATCHING_STORE_HPP

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rowlock/detail/home_process.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock {

namespace detail {
class statement_batcher;
}

/// Which calls share a statement.
struct batching_options {
  /// The most requests that share a statement; 1: every call has its own. At most 1,000. A call of
  /// more is never split.
  std::size_t at_most = 256;
  /// The most at once, where they may be several. None: as many as the store makes use of.
  std::optional<unsigned> in_flight = std::nullopt;
};

/// Throws `error` (misuse) for what cannot be meant.
void check(const batching_options& options);

/// Calls of `acquire` and `release` that arrive while a statement is under way form the next one of
/// their kind, so that many threads share round trips and commits; one that meets nobody has its
/// own at once. (The renewals of a `lock_table` are one statement already, and pass.) Where one
/// takes 2 to 20 ms, the next waits for those it answered, a quarter of that time at most. Several
/// run at once (`in_flight` at most) where few ask and they are quick, beside one of over 20 ms,
/// and where fewer ask than share to their advantage (`store::sharing_pays_from`): 17 on MariaDB.
///
/// Each call has answers and errors of its own: when a shared statement fails, whatever the reason,
/// each is made again alone. Only a release in doubt is not: that is told to all that shared it. An
/// acquisition in doubt stays so, unless the same attempt, made again, tells.
///
/// A `lock_table` groups its calls by itself (`lock_options::batching`); several tables that are to
/// share statements are put over one `batching_store`, with `batching.at_most = 1` of their own.
///
/// Thread-safety: all members may be called from any thread. The store must outlive it.
class batching_store final : public passing_store {
 public:
  /// Throws `error` (misuse) for options out of range.
  explicit batching_store(store& target, const batching_options& options = {});
  ~batching_store() override;

  /// How many calls wait for their statement now.
  [[nodiscard]] std::size_t waiting() const;

 protected:
  /// Sets pass, each in its own statement.
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override;
  std::vector<change_answer> do_release(std::span<const release_request> requests) override;

 private:
  detail::owned_at_home<detail::statement_batcher> batcher_;
};

}  // namespace rowlock

#endif
