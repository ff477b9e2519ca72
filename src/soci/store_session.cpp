// The sessions of a store.
#include "soci/store_session.hpp"

#include <soci/soci.h>

#include <algorithm>
#include <limits>

#include "rowlock/error.hpp"

namespace rowlock::through_soci {

std::unique_ptr<::soci::session> open(const connection_target& target) {
  auto opened = std::make_unique<::soci::session>();
  try {
    opened->open(target.spoken->factory(), target.parameters);
  } catch (const std::exception&) {
    target.spoken->throw_not_opened(target.parameters);
  }
  target.spoken->quieten(*opened);
  return opened;
}

std::shared_ptr<::soci::session> take_from(::soci::connection_pool& pool,
                                           std::chrono::milliseconds timeout) {
  const auto longest = std::chrono::milliseconds{std::numeric_limits<int>::max()};
  std::size_t place = 0;
  if (!pool.try_lease(place, static_cast<int>(std::min(timeout, longest).count()))) {
    throw error{errc::unavailable,
                "the application's connection_pool has no free session: make it as large as "
                "pool_size, and leave it to the store alone"};
  }
  std::shared_ptr<::soci::session> taken{
      &pool.at(place), [&pool, place](::soci::session* /*taken*/) { pool.give_back(place); }};
  const auto& spoken = dialect_of(*taken);
  if (taken->is_connected()) return taken;
  try {
    taken->reconnect();
  } catch (const std::exception&) {
    spoken.throw_not_opened({});
  }
  return taken;
}

}  // namespace rowlock::through_soci
