// The reasons for not granting or not changing a row, derived from the row as read.
#ifndef ROWLOCK_STORE_REFUSAL_OF_HPP
#define ROWLOCK_STORE_REFUSAL_OF_HPP

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// A row as it was read, with its owner id, which is a secret.
struct seen_row {
  row_state state;
  std::string owner = {};
  /// Time until the lease ends or the closed row opens; zero or less once that is over.
  std::chrono::microseconds left{};
  /// The row is already marked: its release sends a notification for some time to come.
  bool is_watched = false;

  /// True if the lease ran out at least `skew` ago, or the row is unowned and has been open that
  /// long.
  [[nodiscard]] bool can_be_taken(std::chrono::microseconds skew) const { return left <= -skew; }
  [[nodiscard]] bool is_of(const owner_id& candidate) const { return owner == candidate.text; }
  [[nodiscard]] bool is_live_and_of(const owner_id& candidate) const {
    return is_of(candidate) && state.is_live();
  }
};

/// The answer to a request, given its row as read (none: there is no row). None if the row is free,
/// or the request's own lease is live. `skew` is how much the clocks of database servers may
/// differ.
ROWLOCK_EXPORT std::optional<acquire_answer> refusal_of(const std::optional<seen_row>& seen,
                                                        const acquire_request& request,
                                                        std::chrono::microseconds skew = {});

/// The answer to a renewal, a release or a note that changed nothing. Busy if the row is still as
/// it was granted: then another transaction must hold it. Lost otherwise.
template <class Request>
change_answer busy_or_lost(const std::optional<seen_row>& seen, const Request& request) {
  const bool is_as_granted =
      seen && seen->is_of(request.owner) && seen->state.version == request.version;
  return is_as_granted ? change_answer::busy : change_answer::lost;
}

/// The same for a request to yield.
ROWLOCK_EXPORT change_answer busy_or_lost(const std::optional<seen_row>& seen,
                                          const ask_request& request);

/// The answer to a forced release that changed nothing. Busy if the row is still as it was seen:
/// then another transaction must hold it. Stale otherwise.
ROWLOCK_EXPORT force_answer busy_or_stale(const std::optional<seen_row>& seen,
                                          const force_request& request,
                                          std::chrono::microseconds skew = {});

/// The places of rows that are missing, or whose lease has run out: `read_mode::ready_to_commit`
/// creates and unsets them.
ROWLOCK_EXPORT std::vector<std::size_t> unfit_to_commit(
    const std::vector<std::optional<seen_row>>& seen, std::chrono::microseconds skew = {});

/// The grants that an earlier call of the same attempt made, whose outcome was unknown.
class earlier_grants {
 public:
  /// `answer` has the version of the row. Both must outlive this.
  void add(const acquire_request& request, acquire_answer& answer) {
    granted_.push_back({request.key, request.owner, *answer.version, request.ttl});
    answers_.push_back(&answer);
  }

  /// Their ttl counts from now: `renew` renews them.
  template <class Renew>
  void adopt(const Renew& renew) {
    if (granted_.empty()) return;
    const auto renewed = renew(std::span<const renew_request>{granted_});
    for (std::size_t i = 0; i < renewed.size(); ++i) {
      if (renewed[i] == change_answer::done) answers_[i]->status = acquire_status::granted;
    }
  }

 private:
  std::vector<renew_request> granted_;
  std::vector<acquire_answer*> answers_;
};

/// The refusal of a row lock whose row has a live lease or is closed.
ROWLOCK_EXPORT refusal held_by(const seen_row& seen);
/// The refusal of a row lock whose row another transaction holds.
ROWLOCK_EXPORT refusal busy_at(const lock_key& key);

/// The states alone, without the secret owners.
ROWLOCK_EXPORT std::vector<std::optional<row_state>> states_of(
    std::vector<std::optional<seen_row>> seen);

/// Adds the user of each row, for display. `used_by` returns the transaction that holds the row of
/// a key, or none.
template <class UsedBy>
std::vector<std::optional<row_state>> with_users(std::vector<std::optional<row_state>> states,
                                                 const UsedBy& used_by) {
  for (auto& state : states) {
    if (state) state->used_by = used_by(state->key);
  }
  return states;
}

}  // namespace rowlock::detail

#endif
