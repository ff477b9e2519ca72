// Rows as people are shown them: with the transactions that have them.
#ifndef ROWLOCK_STORE_WITH_USERS_HPP
#define ROWLOCK_STORE_WITH_USERS_HPP

#include <optional>
#include <vector>

#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// `used_by` names the transaction that has the row of a key, or none.
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
