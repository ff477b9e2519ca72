// The PostgreSQL store through libpqxx, and its migrations.
#include "rowlock/postgres_store.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <pqxx/pqxx>
#include <utility>

#include "base/limits.hpp"
#include "postgres/connecting.hpp"
#include "postgres/libpq_connection.hpp"
#include "postgres/notify.hpp"
#include "postgres/pqxx/connection.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/session.hpp"
#include "postgres/sql/rows.hpp"
#include "postgres/sql/session.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "store/session.hpp"

namespace rowlock {

namespace {

// Only holders write the rows of live leases, so a long renewal blocks no other caller. But it must
// end before statement_timeout, on a slow server as well.
constexpr std::size_t longest_renewal = 10'000;

void check_waits(const postgres_options& options) {
  detail::check_clock_skew(options.clock_skew);
  detail::check_time_to_wait("pool_timeout", options.pool_timeout);
  detail::check_time_limit("answer_timeout", options.answer_timeout);
}

void check_limits(const postgres_options& options) {
  detail::check_time_limit("connect_timeout", options.connect_timeout);
  detail::check_time_limit("tcp_user_timeout", options.tcp_user_timeout);
  detail::check_time_limit("statement_timeout", options.statement_timeout);
  detail::check_time_limit("lock_timeout", options.lock_timeout);
}

class pqxx_sessions final : public detail::session_source {
 public:
  pqxx_sessions(postgres::connector make, const postgres::time_pins& to_pin,
                postgres_options options)
      : options_{.table = {std::move(options.table), options.clock_skew},
                 .marks_watched_rows = options.wake_up},
        make_{std::move(make)},
        to_pin_{to_pin},
        longest_answer_{options.answer_timeout},
        limits_{.statements_at_once = options.pool_size, .longest_renewal = longest_renewal} {}

  std::unique_ptr<detail::session> open() override {
    auto made = make_();
    const bool is_to_be_pinned = made.is_to_be_pinned;
    auto opened = std::make_unique<postgres::libpq_connection>(
        std::move(made), postgres::answer_limit{.longest = longest_answer_}, &may_prepare_);
    if (is_to_be_pinned) postgres::pin(*opened, options_.table, to_pin_);
    return postgres::make_session(std::move(opened), options_);
  }

  std::unique_ptr<subscription> listen(release_listener& listener) override {
    if (!options_.marks_watched_rows) return nullptr;
    return std::make_unique<postgres::notify_listener>(
        make_, postgres::statement_for(options_.table, postgres::sql::announcement_channel),
        listener, longest_answer_);
  }

  [[nodiscard]] store_limits limits() const noexcept override { return limits_; }

 private:
  const postgres::session_options options_;
  const postgres::connector make_;
  const postgres::time_pins to_pin_;
  postgres::may_prepare may_prepare_{true};
  const std::chrono::milliseconds longest_answer_;
  const store_limits limits_;
};

std::unique_ptr<detail::session_source> sessions_of(const std::string& connection_string,
                                                    const postgres_options& options) {
  check_waits(options);
  check_limits(options);
  const auto lock_timeout = postgres::lock_limit(options.lock_timeout, options.statement_timeout);
  const postgres::time_limits limits{.connect = options.connect_timeout,
                                     .tcp_user = options.tcp_user_timeout,
                                     .statement = options.statement_timeout,
                                     .lock = lock_timeout};
  const postgres::conninfo to{connection_string, limits};
  const postgres::time_pins to_pin{.statement_timeout = options.statement_timeout,
                                   .lock_timeout = lock_timeout};
  auto connect = postgres::connector_to(to);
  if (options.connection_string_now) {
    connect = postgres::connector_to(to, [limits, read_again = options.connection_string_now] {
      return postgres::conninfo{read_again(), limits};
    });
  }
  return std::make_unique<pqxx_sessions>(std::move(connect), to_pin, options);
}

std::unique_ptr<detail::session_source> sessions_of(detail::make_connection make,
                                                    const postgres_options& options) {
  check_waits(options);
  detail::check_time_limit("lock_timeout", options.lock_timeout);
  return std::make_unique<pqxx_sessions>(postgres::connector_by(std::move(make)),
                                         postgres::time_pins{.lock_timeout = options.lock_timeout},
                                         options);
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param)
postgres_store::postgres_store(std::string connection_string, postgres_options options)
    : sql_store{sessions_of(connection_string, options), options.pool_size, options.pool_timeout} {}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
postgres_store::postgres_store(detail::make_connection make, postgres_options options)
    : sql_store{sessions_of(std::move(make), options), options.pool_size, options.pool_timeout} {}

std::vector<migration> migrate_postgres(const std::string& connection_string,
                                        const table_name& table, history_option history) {
  const auto connection = postgres::connect(postgres::conninfo{connection_string, {}});
  try {
    pqxx::work work{*connection};
    postgres::pqxx_transaction used{work};
    auto missing = postgres::migrate(used, table, history);
    try {
      work.commit();
    } catch (...) {
      detail::throw_failed_commit();
    }
    return missing;
  } catch (const std::exception&) {
    postgres::throw_as_error(postgres::effects::none, &table);
  }
}

}  // namespace rowlock
