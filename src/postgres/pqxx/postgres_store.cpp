// The PostgreSQL store through libpqxx, and its migrations.
#include "rowlock/postgres_store.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <utility>

#include "base/in_batches.hpp"
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
        statements_at_once_{std::min(options.pool_size, 4U)},
        pool_{[this] { return open(); }, options.pool_size, options.pool_timeout} {}

  /// `work` on a connection; what it throws is told as an `error`.
  template <class Work>
  auto call(const Work& work, purpose used_for = purpose::anything) {
    home_.require();
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

  /// `work` for a few requests at a time; all answers.
  template <class Answer, class Request, class Work>
  std::vector<Answer> call_in_batches(std::span<const Request> requests, const Work& work,
                                      purpose used_for = purpose::anything,
                                      std::size_t longest = detail::longest_batch) {
    if (requests.empty()) return {};
    return call(
        [&](postgres::store_call& asking) {
          return detail::in_batches<Answer>(
              requests, [&](auto batch) { return work(asking, batch); }, longest);
        },
        used_for);
  }

  [[nodiscard]] const table_name& table() const noexcept { return table_; }

  [[nodiscard]] bool can_wake_up() const noexcept { return wake_up_; }

  [[nodiscard]] unsigned statements_at_once() const noexcept { return statements_at_once_; }

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

  detail::home_process home_;
  const table_name table_;
  const bool wake_up_;
  const postgres::connector make_;
  const std::optional<pins> to_pin_;
  sql::postgres_statements statements_;
  postgres::may_prepare may_prepare_{true};
  postgres::answer_watch answers_;
  std::atomic<bool> table_is_checked_{false};
  const unsigned statements_at_once_;
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

std::vector<acquire_answer> postgres_store::acquire(std::span<const acquire_request> requests) {
  for (const auto& request : requests) check(request);
  return impl_->call_in_batches<acquire_answer>(requests, postgres::acquire);
}

std::vector<acquire_answer> postgres_store::acquire_all(std::span<const acquire_request> requests) {
  check_set(requests);
  if (requests.empty()) return {};
  return impl_->call(
      [&](postgres::store_call& asking) { return postgres::acquire_all(asking, requests); });
}

std::vector<acquire_answer> postgres_store::acquire_any(std::span<const acquire_request> requests,
                                                        std::size_t at_most) {
  check_set(requests);
  if (requests.empty() || at_most == 0) {
    return std::vector<acquire_answer>(requests.size(), {.status = acquire_status::withheld});
  }
  return impl_->call([&](postgres::store_call& asking) {
    return postgres::acquire_any(asking, requests, at_most);
  });
}

std::vector<renew_answer> postgres_store::renew(std::span<const renew_request> requests) {
  for (const auto& request : requests) check(request);
  return impl_->call_in_batches<renew_answer>(requests, postgres::renew,
                                              impl::purpose::keeping_leases, longest_renewal);
}

std::vector<release_answer> postgres_store::release(std::span<const release_request> requests) {
  for (const auto& request : requests) check(request);
  return impl_->call_in_batches<release_answer>(requests, postgres::release,
                                                impl::purpose::keeping_leases);
}

handoff_answer postgres_store::handoff(const handoff_request& request) {
  check(request);
  return impl_->call(
      [&](postgres::store_call& asking) { return postgres::handoff(asking, request); },
      impl::purpose::keeping_leases);
}

note_answer postgres_store::write_note(const note_request& request) {
  check(request);
  return impl_->call(
      [&](postgres::store_call& asking) { return postgres::write_note(asking, request); });
}

std::vector<std::optional<row_state>> postgres_store::read(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->call_in_batches<std::optional<row_state>>(keys, postgres::read);
}

std::vector<std::optional<row_state>> postgres_store::prepare(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->call_in_batches<std::optional<row_state>>(keys, postgres::prepare);
}

std::vector<std::optional<row_state>> postgres_store::watch(std::span<const lock_key> keys) {
  if (!impl_->can_wake_up()) return read(keys);
  for (const auto& key : keys) check(key);
  return impl_->call_in_batches<std::optional<row_state>>(keys, postgres::watch);
}

std::unique_ptr<subscription> postgres_store::listen(release_listener& listener) {
  return impl_->can_wake_up() ? impl_->listen(listener) : nullptr;
}

std::vector<row_state> postgres_store::list() {
  return impl_->call([](postgres::store_call& asking) { return asking.list(); });
}

std::optional<std::string> postgres_store::used_by(const lock_key& key) {
  check(key);
  return impl_->call([&](postgres::store_call& asking) { return asking.used_by(key); });
}

force_answer postgres_store::force_release(const force_request& request) {
  check(request);
  return impl_->call(
      [&](postgres::store_call& asking) { return postgres::force_release(asking, request); });
}

purge_answer postgres_store::purge(const purge_request& request) {
  check(request);
  return impl_->call([&](postgres::store_call& asking) { return asking.purge(request); });
}

std::vector<std::string> postgres_store::weak_settings() {
  return impl_->call(
      [this](postgres::store_call& asking) { return asking.weak_settings(impl_->table()); });
}

unsigned postgres_store::statements_at_once() const noexcept { return impl_->statements_at_once(); }

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
