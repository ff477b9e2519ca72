// The store through SOCI, and its migrations.
#include "rowlock/soci_store.hpp"

#include <soci/soci.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "base/limits.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "soci/backend.hpp"
#include "store/changing_target.hpp"
#include "store/session.hpp"

namespace rowlock {

namespace {

void check(const soci_options& options) {
  if (options.clock_skew) detail::check_clock_skew(*options.clock_skew);
  detail::check_time_to_wait("pool_timeout", options.pool_timeout);
  detail::check_time_to_wait("turn_timeout", options.turn_timeout);
  detail::check_time_limit("connect_timeout", options.connect_timeout);
  detail::check_time_limit("statement_timeout", options.statement_timeout);
  detail::check_time_limit("lock_timeout", options.lock_timeout);
  detail::check_time_limit("answer_timeout", options.answer_timeout);
}

std::shared_ptr<::soci::session> opened_at(const through_soci::connection_target& target) {
  auto opened = std::make_shared<::soci::session>();
  try {
    opened->open(target.backend->factory(), target.parameters);
  } catch (const std::exception&) {
    target.backend->throw_not_opened(target.parameters);
  }
  target.backend->quieten(*opened);
  return opened;
}

/// Takes a session from the application's pool; destroying the pointer returns it. Reconnects a
/// session that has lost its connection.
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
  const auto& backend = through_soci::backend_of(*taken);
  if (taken->is_connected()) return taken;
  try {
    taken->reconnect();
  } catch (const std::exception&) {
    backend.throw_not_opened({});
  }
  return taken;
}

through_soci::connection_target target_of(const std::string& connection_string,
                                          const soci_options& options) {
  auto target = through_soci::target_of(connection_string);
  target.parameters = target.backend->checked(std::move(target.parameters), options);
  return target;
}

class soci_sessions final : public detail::session_source {
 public:
  using open_any = std::function<std::shared_ptr<::soci::session>()>;

  soci_sessions(open_any open_one, const store_limits& limits, soci_options options)
      : options_{std::move(options)}, open_{std::move(open_one)}, limits_{limits} {
    limits_.statements_at_once = std::min(options_.pool_size, limits_.statements_at_once);
  }

  std::unique_ptr<detail::session> open() override {
    auto opened = open_();
    const auto& backend = through_soci::backend_of(*opened);
    {
      const detail::checked_lock lock{mutex_};
      listen_ = backend.way_to_listen(*opened);
    }
    return backend.make_session(std::move(opened), options_);
  }

  std::unique_ptr<subscription> listen(release_listener& listener) override {
    const detail::checked_lock lock{mutex_};
    return listen_ ? listen_(listener) : nullptr;
  }

  [[nodiscard]] store_limits limits() const noexcept override { return limits_; }

 private:
  const soci_options options_;
  const open_any open_;
  store_limits limits_;
  detail::checked_mutex mutex_;
  through_soci::soci_backend::listen listen_
      ROWLOCK_GUARDED_BY(mutex_);  // empty before a session is open
};

std::unique_ptr<detail::session_source> sessions_of(const std::string& connection_string,
                                                    const soci_options& options) {
  check(options);
  auto target = target_of(connection_string, options);
  const auto limits = target.backend->about.limits;
  if (!options.connection_string_now) {
    return std::make_unique<soci_sessions>(
        [target = std::move(target)] { return opened_at(target); }, limits, options);
  }
  using through_soci::connection_target;
  const auto renew = [options](const connection_target& last) {
    auto next = target_of(options.connection_string_now(), options);
    return next.backend == last.backend ? next : last;
  };
  const auto shared =
      std::make_shared<detail::changing_target<connection_target>>(std::move(target), renew);
  const auto is_same = [](const connection_target& one, const connection_target& other) {
    return one.parameters == other.parameters;
  };
  return std::make_unique<soci_sessions>(
      [shared, is_same] { return shared->opened(opened_at, is_same); }, limits, options);
}

std::unique_ptr<detail::session_source> sessions_of(::soci::connection_pool& pool,
                                                    const soci_options& options) {
  check(options);
  return std::make_unique<soci_sessions>(
      [&pool, timeout = options.pool_timeout] { return take_from(pool, timeout); },
      through_soci::backend_of(pool.at(0)).about.limits, options);
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param)
soci_store::soci_store(std::string connection_string, soci_options options)
    : sql_store{sessions_of(connection_string, options), options.pool_size, options.pool_timeout} {}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
soci_store::soci_store(::soci::connection_pool& pool, soci_options options)
    : sql_store{sessions_of(pool, options), options.pool_size, options.pool_timeout} {}

std::vector<migration> migrate_soci(const std::string& connection_string, const table_name& table,
                                    history_option history) {
  auto target = through_soci::target_of(connection_string);
  target.parameters = target.backend->checked(std::move(target.parameters), soci_options{});
  target.backend->create_database(target.parameters);
  const auto session = opened_at(target);
  return target.backend->migrate(*session, table, history);
}

std::vector<migration> soci_migrations(const std::string& connection_string,
                                       const table_name& table) {
  return through_soci::target_of(connection_string).backend->about.migrations(table);
}

migration soci_history(const std::string& connection_string, const table_name& table) {
  return through_soci::target_of(connection_string).backend->about.history(table);
}

}  // namespace rowlock
