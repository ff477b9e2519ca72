// Why a row that a statement has read is not granted, or not changed.
#ifndef ROWLOCK_STORE_REFUSAL_OF_HPP
#define ROWLOCK_STORE_REFUSAL_OF_HPP

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// A row as it was read, with its owner, who is a secret.
struct seen_row {
  row_state state;
  std::string owner = {};
  /// Of its lease, or until it opens; zero or less when that is over.
  std::chrono::microseconds left{};
  /// Its release is announced already, for some time to come.
  bool is_watched = false;

  /// Its lease ran out `skew` ago, or it is unowned, and has been open for as long.
  [[nodiscard]] bool can_be_taken(std::chrono::microseconds skew) const { return left <= -skew; }
  [[nodiscard]] bool is_of(const owner_id& asking) const { return owner == asking.text; }
  [[nodiscard]] bool is_live_and_of(const owner_id& asking) const {
    return is_of(asking) && state.is_live();
  }
};

/// The answer to a request whose row was seen so, or is missing. None: nothing that was seen is in
/// the way; the row is free, or the request's own lease is live. `skew`: how much clocks of
/// database servers may differ.
std::optional<acquire_answer> refusal_of(const std::optional<seen_row>& seen,
                                         const acquire_request& request,
                                         std::chrono::microseconds skew = {});

/// The answer to a renewal, a release or a note that has changed nothing: busy as long as the row
/// is as it was granted, so that a transaction must have it.
template <class Request>
change_answer busy_or_lost(const std::optional<seen_row>& seen, const Request& request) {
  const bool is_as_granted =
      seen && seen->is_of(request.owner) && seen->state.version == request.version;
  return is_as_granted ? change_answer::busy : change_answer::lost;
}

/// Of a row lock: the row has a live lease, or stays closed.
refusal held_by(const seen_row& seen);
/// Of a row lock: a transaction has the row.
refusal busy_at(const lock_key& key);

/// Without the owners.
std::vector<std::optional<row_state>> states_of(std::vector<std::optional<seen_row>> seen);

/// The rows that the states are of, as people are shown them. `used_by` names the transaction that
/// has the row of a key, or none.
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
