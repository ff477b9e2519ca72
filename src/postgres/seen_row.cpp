// A row of the lock table, as a look or a list answers it.
#include "postgres/seen_row.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace rowlock::postgres {

seen_row seen_in(const pqxx::row& found, lock_key key) {
  seen_row seen;
  row_state& state = seen.state;
  state.key = std::move(key);
  state.version = {found["version"].as<std::int64_t>()};
  state.owned = !found["owner"].is_null();
  state.failure_count = found["failure_count"].as<std::int64_t>();
  state.expiry_count = found["expiry_count"].as<std::int64_t>();
  if (state.owned) {
    seen.owner = found["owner"].as<std::string>();
    state.holder = found["holder"].as<std::string>("");
    state.acquired_at = found["acquired_at"].as<std::string>("");
    state.remaining = std::chrono::microseconds{found["remaining_us"].as<std::int64_t>()};
  }
  return seen;
}

}  // namespace rowlock::postgres
