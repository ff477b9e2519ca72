// The store through SOCI, and its migrations.
#include "rowlock/soci_store.hpp"

#include <soci/soci.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <utility>

#include "base/in_batches.hpp"
#include "base/limits.hpp"
#include "rowlock/error.hpp"
#include "soci/store_session.hpp"
#include "store/connection_pool.hpp"

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

}  // namespace

class soci_store::impl {
 public:
  using pool = detail::connection_pool<through_soci::store_session>;
  using purpose = pool::purpose;
  /// The session, and what speaks on it.
  using open_any = std::function<std::shared_ptr<::soci::session>()>;

  impl(open_any open, std::function<std::unique_ptr<::soci::session>()> open_one_more,
       soci_options options)
      : options_{std::move(options)},
        open_{std::move(open)},
        open_one_more_{std::move(open_one_more)},
        pool_{[this] { return pinned(); }, options_.pool_size, options_.pool_timeout} {}

  /// `work` on the calls of a session.
  template <class Work>
  auto call(const Work& work, purpose used_for = purpose::anything) {
    home_.require();
    auto session = pool_.take(used_for);
    try {
      check_table(session->leases());
      return work(session->leases());
    } catch (...) {
      if (!session->leases().is_usable()) session.drop();
      throw;
    }
  }

  /// `work` for a few requests at a time; all answers.
  template <class Answer, class Request, class Work>
  std::vector<Answer> call_in_batches(std::span<const Request> requests, const Work& work,
                                      purpose used_for = purpose::anything) {
    if (requests.empty()) return {};
    return call(
        [&](through_soci::lease_session& leases) {
          bool is_partly_done = false;
          return detail::in_batches<Answer>(requests, [&](auto batch) {
            try {
              auto answers = std::invoke(work, leases, batch);
              is_partly_done = true;
              return answers;
            } catch (const error& fault) {
              if (!is_partly_done || fault.kind() != errc::unavailable) throw;
              std::throw_with_nested(
                  error{errc::outcome_unknown,
                        std::string{"a part of the call is done, then: "} + fault.what()});
            }
          });
        },
        used_for);
  }

  std::unique_ptr<subscription> listen(release_listener& listener) {
    home_.require();
    if (!open_one_more_) return nullptr;
    return spoken_->listen(open_one_more_, options_.table, listener);
  }

  [[nodiscard]] unsigned statements_at_once() const noexcept {
    return std::min(options_.pool_size, spoken_ == nullptr ? 4U : spoken_->statements_at_once());
  }
  [[nodiscard]] std::size_t sharing_pays_from() const noexcept {
    return spoken_ == nullptr ? 2 : spoken_->sharing_pays_from();
  }

  void speak(const through_soci::dialect& spoken) noexcept { spoken_ = &spoken; }

 private:
  std::unique_ptr<through_soci::store_session> pinned() {
    auto opened = open_();
    const auto& spoken = through_soci::dialect_of(*opened);
    return std::make_unique<through_soci::store_session>(std::move(opened), spoken, options_);
  }

  void check_table(through_soci::lease_session& leases) {
    if (table_is_checked_) return;
    leases.check_table();
    table_is_checked_ = true;
  }

  detail::home_process home_;
  const soci_options options_;
  const open_any open_;
  const std::function<std::unique_ptr<::soci::session>()> open_one_more_;  // not from a pool
  const through_soci::dialect* spoken_ = nullptr;                          // of open_one_more_
  std::atomic<bool> table_is_checked_{false};
  pool pool_;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param)
soci_store::soci_store(std::string connection_string, soci_options options) {
  check(options);
  auto target = through_soci::target_of(connection_string);
  target.parameters = target.spoken->checked(std::move(target.parameters), options);
  const auto open = [target] { return through_soci::open(target); };
  impl_ = detail::make_owned_at_home<impl>(open, open, std::move(options));
  impl_->speak(*target.spoken);
}

soci_store::soci_store(::soci::connection_pool& pool, soci_options options) {
  check(options);
  const auto open = [&pool, timeout = options.pool_timeout] {
    return through_soci::take_from(pool, timeout);
  };
  impl_ = detail::make_owned_at_home<impl>(open, nullptr, std::move(options));
}

soci_store::~soci_store() = default;

using through_soci::lease_session;

std::vector<acquire_answer> soci_store::acquire(std::span<const acquire_request> requests) {
  for (const auto& request : requests) check(request);
  return impl_->call_in_batches<acquire_answer>(requests, &lease_session::acquire);
}

std::vector<acquire_answer> soci_store::acquire_all(std::span<const acquire_request> requests) {
  check_set(requests);
  if (requests.empty()) return {};
  return impl_->call([&](lease_session& leases) { return leases.acquire_all(requests); });
}

std::vector<acquire_answer> soci_store::acquire_any(std::span<const acquire_request> requests,
                                                    std::size_t at_most) {
  check_set(requests);
  if (requests.empty() || at_most == 0) {
    return std::vector<acquire_answer>(requests.size(), {.status = acquire_status::withheld});
  }
  return impl_->call([&](lease_session& leases) { return leases.acquire_any(requests, at_most); });
}

std::vector<renew_answer> soci_store::renew(std::span<const renew_request> requests) {
  for (const auto& request : requests) check(request);
  return impl_->call_in_batches<renew_answer>(requests, &lease_session::renew,
                                              impl::purpose::keeping_leases);
}

std::vector<release_answer> soci_store::release(std::span<const release_request> requests) {
  for (const auto& request : requests) check(request);
  return impl_->call_in_batches<release_answer>(requests, &lease_session::release,
                                                impl::purpose::keeping_leases);
}

handoff_answer soci_store::handoff(const handoff_request& request) {
  check(request);
  return impl_->call([&](lease_session& leases) { return leases.handoff(request); },
                     impl::purpose::keeping_leases);
}

note_answer soci_store::write_note(const note_request& request) {
  check(request);
  return impl_->call([&](lease_session& leases) { return leases.write_note(request); });
}

std::vector<std::optional<row_state>> soci_store::read(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->call_in_batches<std::optional<row_state>>(keys, &lease_session::read);
}

std::vector<std::optional<row_state>> soci_store::prepare(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->call_in_batches<std::optional<row_state>>(keys, &lease_session::prepare);
}

std::vector<std::optional<row_state>> soci_store::watch(std::span<const lock_key> keys) {
  for (const auto& key : keys) check(key);
  return impl_->call_in_batches<std::optional<row_state>>(keys, &lease_session::watch);
}

std::unique_ptr<subscription> soci_store::listen(release_listener& listener) {
  return impl_->listen(listener);
}

std::vector<row_state> soci_store::list() {
  return impl_->call([](lease_session& leases) { return leases.list(); });
}

std::optional<std::string> soci_store::used_by(const lock_key& key) {
  check(key);
  return impl_->call([&](lease_session& leases) { return leases.used_by(key); });
}

force_answer soci_store::force_release(const force_request& request) {
  check(request);
  return impl_->call([&](lease_session& leases) { return leases.force_release(request); });
}

purge_answer soci_store::purge(const purge_request& request) {
  check(request);
  return impl_->call([&](lease_session& leases) { return leases.purge(request); });
}

std::vector<std::string> soci_store::weak_settings() {
  return impl_->call([](lease_session& leases) { return leases.weak_settings(); });
}

unsigned soci_store::statements_at_once() const noexcept { return impl_->statements_at_once(); }

std::size_t soci_store::sharing_pays_from() const noexcept { return impl_->sharing_pays_from(); }

std::vector<migration> migrate_soci(const std::string& connection_string, const table_name& table) {
  auto target = through_soci::target_of(connection_string);
  target.parameters = target.spoken->checked(std::move(target.parameters), soci_options{});
  target.spoken->create_database(target.parameters);
  const auto session = through_soci::open(target);
  return target.spoken->migrate(*session, table);
}

std::vector<migration> soci_migrations(const std::string& connection_string,
                                       const table_name& table) {
  return through_soci::target_of(connection_string).spoken->migrations(table);
}

}  // namespace rowlock
