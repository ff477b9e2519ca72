// A row of the lock table, as a look or a list answers it.
#ifndef ROWLOCK_POSTGRES_ROW_HPP
#define ROWLOCK_POSTGRES_ROW_HPP

#include <chrono>
#include <string>

#include "postgres/values.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// A row, and whose it is.
struct seen_row {
  row_state state;
  std::string owner;
  /// Of its lease, or until it is open; zero or less when that is over.
  std::chrono::microseconds left{};
  /// Somebody has left word not long ago that he waits for the release.
  bool will_be_announced = false;

  /// Its lease ran out `skew` ago, or it is nobody's and open for as long.
  [[nodiscard]] bool can_be_taken(std::chrono::microseconds skew) const { return left <= -skew; }
  [[nodiscard]] bool is_of(const owner_id& asking) const { return owner == asking.text; }
  [[nodiscard]] bool is_live_and_of(const owner_id& asking) const {
    return is_of(asking) && state.is_live();
  }
};

seen_row seen_in(const answer::row& found, lock_key key);

/// Why it was not granted: busy where nothing is seen that was in the way.
acquire_answer refused(const acquire_request& request, const seen_row& seen,
                       std::chrono::microseconds skew);

}  // namespace rowlock::postgres

#endif
