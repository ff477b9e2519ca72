// A row of the lock table, as a look or a list answers it.
#ifndef ROWLOCK_DIALECTS_POSTGRES_SEEN_ROW_HPP
#define ROWLOCK_DIALECTS_POSTGRES_SEEN_ROW_HPP

#include <chrono>
#include <string>

#include "dialects/postgres/answer.hpp"
#include "rowlock/store.hpp"

namespace rowlock::postgres {

/// A row, and whose it is.
struct seen_row {
  row_state state;
  std::string owner;
  /// Somebody has left word not long ago that he waits for the release.
  bool will_be_announced = false;

  /// Its lease ran out `skew` ago, or there is none.
  [[nodiscard]] bool can_be_taken(std::chrono::microseconds skew) const {
    return !state.owned || *state.remaining <= -skew;
  }
  [[nodiscard]] bool is_of(const owner_id& asking) const { return owner == asking.text; }
};

seen_row seen_in(const answer::row& found, lock_key key);

}  // namespace rowlock::postgres

#endif
