// The PostgreSQL store through libpqxx, and its migrations.
#include "rowlock/postgres_store.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <utility>

#include "base/limits.hpp"
#include "postgres/acquire.hpp"
#include "postgres/acquire_set.hpp"
#include "postgres/admin.hpp"
#include "postgres/connecting.hpp"
#include "postgres/pqxx/connection.hpp"
#include "postgres/pqxx/notify.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/read.hpp"
#include "postgres/session.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres.hpp"
#include "store/refusal_of.hpp"

namespace rowlock {

namespace {

// Of live leases nobody but their holders wants the rows, and it is their own renewal that they
// meet. So it may be long; but not as long as statement_timeout, on a slow server either.
constexpr std::size_t longest_renewal = 10'000;

void check_waits(const postgres_options& options) {
  detail::check_time_to_wait("pool_timeout", options.pool_timeout);
  detail::check_time_limit("answer_timeout", options.answer_timeout);
}

void check_limits(const postgres_options& options) {
  detail::check_time_limit("connect_timeout", options.connect_timeout);
  detail::check_time_limit("tcp_user_timeout", options.tcp_user_timeout);
  detail::check_time_limit("statement_timeout", options.statement_timeout);
  detail::check_time_limit("lock_timeout", options.lock_timeout);
}

}  // namespace

class postgres_store::impl {
 public:
  using purpose = postgres::connection_pool::purpose;

  /// Of sessions that nobody asked for at their start.
  struct pins {
    std::optional<std::chrono::milliseconds> statement_timeout;
    std::optional<std::chrono::milliseconds> lock_timeout;
  };

  impl(postgres::connector make, std::optional<pins> to_pin, postgres_options options)
      : table_{std::move(options.table)},
        wake_up_{options.wake_up},
        make_{std::move(make)},
        to_pin_{to_pin},
        statements_{postgres_table{table_, options.clock_skew}, options.asynchronous_release},
        answers_{options.answer_timeout},
        limits_{.statements_at_once = std::min(options.pool_size, 4U),
                .longest_renewal = longest_renewal},
        pool_{[this] { return open(); }, options.pool_size, options.pool_timeout} {}

  /// `work` on a connection; what it throws is told as an `error`.
  template <class Work>
  auto call(const Work& work, purpose used_for = purpose::anything) {
    auto connection = pool_.take(used_for);
    postgres::store_call asking{*connection, statements_};
    try {
      check_table(asking);
      return work(asking);
    } catch (const std::exception& thrown) {
      if (postgres::fault_in(thrown).needs_new_connection()) connection.drop();
      postgres::throw_as_error(asking.had(), &table_);
    }
  }

  [[nodiscard]] const table_name& table() const noexcept { return table_; }

  [[nodiscard]] bool can_wake_up() const noexcept { return wake_up_; }

  [[nodiscard]] const store_limits& limits() const noexcept { return limits_; }

  std::unique_ptr<subscription> listen(release_listener& listener) {
    return std::make_unique<postgres::notify_listener>(make_, statements_.announcement_channel,
                                                       listener, answers_);
  }

 private:
  std::unique_ptr<postgres::postgres_connection> open() {
    auto opened = std::make_unique<postgres::postgres_connection>(make_(), may_prepare_, answers_);
    if (!to_pin_) return opened;
    try {
      opened->pin(statements_.pin_session, to_pin_->statement_timeout, to_pin_->lock_timeout);
    } catch (const std::exception&) {
      postgres::throw_as_error(postgres::effects::none, &table_);
    }
    return opened;
  }

  void check_table(postgres::store_call& asking) {
    if (table_is_checked_) return;
    asking.check_table(table_);
    table_is_checked_ = true;
  }

  const table_name table_;
  const bool wake_up_;
  const postgres::connector make_;
  const std::optional<pins> to_pin_;
  sql::postgres_statements statements_;
  postgres::may_prepare may_prepare_{true};
  postgres::answer_watch answers_;
  std::atomic<bool> table_is_checked_{false};
  const store_limits limits_;
  postgres::connection_pool pool_;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param)
postgres_store::postgres_store(std::string connection_string, postgres_options options) {
  check_waits(options);
  check_limits(options);
  const postgres::conninfo to{connection_string,
                              {.connect = options.connect_timeout,
                               .tcp_user = options.tcp_user_timeout,
                               .statement = options.statement_timeout,
                               .lock = options.lock_timeout}};
  std::optional<impl::pins> to_pin;
  if (to.names_a_service()) {
    to_pin = {.statement_timeout = options.statement_timeout, .lock_timeout = options.lock_timeout};
  }
  impl_ = detail::make_owned_at_home<impl>(postgres::connector_to(to), to_pin, std::move(options));
}

postgres_store::postgres_store(detail::make_connection make, postgres_options options) {
  check_waits(options);
  impl_ = detail::make_owned_at_home<impl>(postgres::connector_by(std::move(make)), impl::pins{},
                                           std::move(options));
}

postgres_store::~postgres_store() = default;

using postgres::store_call;

std::vector<acquire_answer> postgres_store::do_acquire(std::span<const acquire_request> requests,
                                                       acquire_mode mode) {
  return impl_->call([&](store_call& asking) {
    switch (mode.how) {
      case acquire_mode::all_or_none:
        return postgres::acquire_all(asking, requests);
      case acquire_mode::any:
        return postgres::acquire_any(asking, requests, mode.at_most);
      case acquire_mode::each:
        break;
    }
    return postgres::acquire(asking, requests);
  });
}

std::vector<change_answer> postgres_store::do_renew(std::span<const renew_request> requests) {
  return impl_->call([&](store_call& asking) { return postgres::renew(asking, requests); },
                     impl::purpose::keeping_leases);
}

std::vector<change_answer> postgres_store::do_release(std::span<const release_request> requests) {
  return impl_->call([&](store_call& asking) { return postgres::release(asking, requests); },
                     impl::purpose::keeping_leases);
}

handoff_answer postgres_store::do_handoff(const handoff_request& request) {
  return impl_->call([&](store_call& asking) { return postgres::handoff(asking, request); },
                     impl::purpose::keeping_leases);
}

change_answer postgres_store::do_write_note(const note_request& request) {
  return impl_->call([&](store_call& asking) { return postgres::write_note(asking, request); });
}

std::vector<std::optional<row_state>> postgres_store::do_read(std::span<const lock_key> keys,
                                                              read_mode mode) {
  return impl_->call([&](store_call& asking) {
    switch (mode) {
      case read_mode::ready_to_commit:
        return postgres::prepare(asking, keys);
      case read_mode::watched:
        return impl_->can_wake_up() ? postgres::watch(asking, keys) : postgres::read(asking, keys);
      case read_mode::shown:
        return detail::with_users(postgres::read(asking, keys),
                                  [&](const auto& key) { return asking.used_by(key); });
      case read_mode::committed:
        break;
    }
    return postgres::read(asking, keys);
  });
}

std::unique_ptr<subscription> postgres_store::do_listen(release_listener& listener) {
  return impl_->can_wake_up() ? impl_->listen(listener) : nullptr;
}

std::vector<row_state> postgres_store::do_list() {
  return impl_->call([](store_call& asking) { return asking.list(); });
}

force_answer postgres_store::do_force_release(const force_request& request) {
  return impl_->call([&](store_call& asking) { return postgres::force_release(asking, request); });
}

purge_answer postgres_store::do_purge(const purge_request& request) {
  return impl_->call([&](store_call& asking) { return asking.purge(request); });
}

std::vector<std::string> postgres_store::do_weak_settings() {
  return impl_->call([this](store_call& asking) { return asking.weak_settings(impl_->table()); });
}

store_limits postgres_store::do_limits() const noexcept { return impl_->limits(); }

std::vector<migration> migrate_postgres(const std::string& connection_string,
                                        const table_name& table) {
  const auto connection = postgres::connect(postgres::conninfo{connection_string, {}});
  try {
    pqxx::work work{*connection};
    postgres::pqxx_transaction used{work};
    auto missing = postgres::migrate(used, table);
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
