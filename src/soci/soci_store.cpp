// The store through SOCI, and its migrations.
#include "rowlock/soci_store.hpp"

#include <soci/soci.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <utility>

#include "base/limits.hpp"
#include "rowlock/error.hpp"
#include "soci/store_session.hpp"
#include "store/connection_pool.hpp"
#include "store/refusal_of.hpp"

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
    auto session = pool_.take(used_for);
    try {
      check_table(session->leases());
      return work(session->leases());
    } catch (...) {
      if (!session->leases().is_usable()) session.drop();
      throw;
    }
  }

  std::unique_ptr<subscription> listen(release_listener& listener) {
    if (!open_one_more_) return nullptr;
    return spoken_->listen(open_one_more_, options_.table, listener);
  }

  [[nodiscard]] store_limits limits() const noexcept {
    store_limits known;
    if (spoken_ != nullptr) {
      known.statements_at_once = spoken_->statements_at_once();
      known.batching_pays_from = spoken_->sharing_pays_from();
    }
    known.statements_at_once = std::min(options_.pool_size, known.statements_at_once);
    return known;
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

std::vector<acquire_answer> soci_store::do_acquire(std::span<const acquire_request> requests,
                                                   acquire_mode mode) {
  return impl_->call([&](lease_session& leases) {
    switch (mode.how) {
      case acquire_mode::all_or_none:
        return leases.acquire_all(requests);
      case acquire_mode::any:
        return leases.acquire_any(requests, mode.at_most);
      case acquire_mode::each:
        break;
    }
    return leases.acquire(requests);
  });
}

std::vector<change_answer> soci_store::do_renew(std::span<const renew_request> requests) {
  return impl_->call([&](lease_session& leases) { return leases.renew(requests); },
                     impl::purpose::keeping_leases);
}

std::vector<change_answer> soci_store::do_release(std::span<const release_request> requests) {
  return impl_->call([&](lease_session& leases) { return leases.release(requests); },
                     impl::purpose::keeping_leases);
}

handoff_answer soci_store::do_handoff(const handoff_request& request) {
  return impl_->call([&](lease_session& leases) { return leases.handoff(request); },
                     impl::purpose::keeping_leases);
}

change_answer soci_store::do_write_note(const note_request& request) {
  return impl_->call([&](lease_session& leases) { return leases.write_note(request); });
}

std::vector<std::optional<row_state>> soci_store::do_read(std::span<const lock_key> keys,
                                                          read_mode mode) {
  return impl_->call([&](lease_session& leases) {
    switch (mode) {
      case read_mode::ready_to_commit:
        return leases.prepare(keys);
      case read_mode::watched:
        return leases.watch(keys);
      case read_mode::shown:
        return detail::with_users(leases.read(keys),
                                  [&](const auto& key) { return leases.used_by(key); });
      case read_mode::committed:
        break;
    }
    return leases.read(keys);
  });
}

std::unique_ptr<subscription> soci_store::do_listen(release_listener& listener) {
  return impl_->listen(listener);
}

std::vector<row_state> soci_store::do_list() {
  return impl_->call([](lease_session& leases) { return leases.list(); });
}

force_answer soci_store::do_force_release(const force_request& request) {
  return impl_->call([&](lease_session& leases) { return leases.force_release(request); });
}

purge_answer soci_store::do_purge(const purge_request& request) {
  return impl_->call([&](lease_session& leases) { return leases.purge(request); });
}

std::vector<std::string> soci_store::do_weak_settings() {
  return impl_->call([](lease_session& leases) { return leases.weak_settings(); });
}

store_limits soci_store::do_limits() const noexcept { return impl_->limits(); }

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
