// The port's calls on a session of a store, on PostgreSQL.
#include "postgres/soci/session.hpp"

#include <chrono>
#include <cstdint>
#include <exception>

#include "postgres/acquire.hpp"
#include "postgres/acquire_set.hpp"
#include "postgres/admin.hpp"
#include "postgres/read.hpp"
#include "postgres/transaction.hpp"
#include "rowlock/error.hpp"

namespace rowlock::through_soci {

template <class Work>
auto postgres_leases::call(const Work& work) {
  postgres::store_call asking{line_, statements_};
  try {
    return work(asking);
  } catch (const std::exception& thrown) {
    const auto found = line_.fault_in(thrown);
    if (found.needs_new_connection()) is_usable_ = false;
    postgres::throw_as_error(found, asking.had(), &table_);
  }
}

postgres_leases::postgres_leases(::soci::session& session, const soci_options& options)
    : line_{session, options.answer_timeout},
      table_{options.table},
      statements_{postgres::statements_for(
          {table_, options.clock_skew.value_or(std::chrono::milliseconds::zero())},
          options.asynchronous_release)} {
  line_.require_no_transaction();
  const postgres::bound_values values{line_.server_process(),
                                      std::int64_t{options.statement_timeout.count()},
                                      std::int64_t{options.lock_timeout.count()}};
  try {
    line_.execute(statements_.pin_session, values);
  } catch (const std::exception& thrown) {
    postgres::throw_as_error(line_.fault_in(thrown), postgres::effects::none, &table_);
  }
}

std::vector<acquire_answer> postgres_leases::acquire(std::span<const acquire_request> requests) {
  return call([&](postgres::store_call& asking) { return postgres::acquire(asking, requests); });
}

std::vector<acquire_answer> postgres_leases::acquire_all(
    std::span<const acquire_request> requests) {
  return call(
      [&](postgres::store_call& asking) { return postgres::acquire_all(asking, requests); });
}

std::vector<acquire_answer> postgres_leases::acquire_any(std::span<const acquire_request> requests,
                                                         std::size_t at_most) {
  return call([&](postgres::store_call& asking) {
    return postgres::acquire_any(asking, requests, at_most);
  });
}

std::vector<change_answer> postgres_leases::renew(std::span<const renew_request> requests) {
  return call([&](postgres::store_call& asking) { return postgres::renew(asking, requests); });
}

std::vector<change_answer> postgres_leases::release(std::span<const release_request> requests) {
  return call([&](postgres::store_call& asking) { return postgres::release(asking, requests); });
}

handoff_answer postgres_leases::handoff(const handoff_request& request) {
  return call([&](postgres::store_call& asking) { return postgres::handoff(asking, request); });
}

change_answer postgres_leases::write_note(const note_request& request) {
  return call([&](postgres::store_call& asking) { return postgres::write_note(asking, request); });
}

std::vector<std::optional<row_state>> postgres_leases::read(std::span<const lock_key> keys) {
  return call([&](postgres::store_call& asking) { return postgres::read(asking, keys); });
}

std::vector<std::optional<row_state>> postgres_leases::prepare(std::span<const lock_key> keys) {
  return call([&](postgres::store_call& asking) { return postgres::prepare(asking, keys); });
}

std::vector<row_state> postgres_leases::list() {
  return call([](postgres::store_call& asking) { return asking.list(); });
}

std::optional<std::string> postgres_leases::used_by(const lock_key& key) {
  return call([&](postgres::store_call& asking) { return asking.used_by(key); });
}

force_answer postgres_leases::force_release(const force_request& request) {
  return call(
      [&](postgres::store_call& asking) { return postgres::force_release(asking, request); });
}

purge_answer postgres_leases::purge(const purge_request& request) {
  return call([&](postgres::store_call& asking) { return asking.purge(request); });
}

std::vector<std::string> postgres_leases::weak_settings() {
  return call([&](postgres::store_call& asking) { return asking.weak_settings(table_); });
}

void postgres_leases::check_table() {
  call([&](postgres::store_call& asking) { asking.check_table(table_); });
}

}  // namespace rowlock::through_soci
