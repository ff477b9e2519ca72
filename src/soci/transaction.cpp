// Row locks and fences in the caller's SOCI transaction.
#include <soci/soci.h>

#include <span>
#include <utility>

#include "base/reported.hpp"
#include "rowlock/error.hpp"
#include "rowlock/soci.hpp"
#include "soci/backend.hpp"
#include "store/entity_sql.hpp"

namespace rowlock {

namespace {

using std::chrono::milliseconds;
using through_soci::backend_of;

std::shared_ptr<void> begin_or_throw(::soci::session& session, milliseconds turn_timeout) {
  auto begun = backend_of(session).begin(session, turn_timeout);
  if (!begun.refused) return std::move(begun.kept);
  throw error{errc::unavailable,
              "others wrote to the database for longer than turn_timeout: try again, and keep "
              "transactions short"};
}

}  // namespace

soci_transaction::soci_transaction(::soci::session& session, milliseconds turn_timeout)
    : session_{session}, kept_{begin_or_throw(session, turn_timeout)} {}

soci_transaction::~soci_transaction() {
  if (!open_ || !home_.is_here()) return;
  try {
    backend_of(session_).roll_back(session_);
  } catch (...) {  // the session was closed, and the transaction with it
  }
}

void soci_transaction::end() noexcept {
  open_ = false;
  kept_.reset();
}

void soci_transaction::abort() {
  if (!home_.is_here() || !open_) return;
  backend_of(session_).roll_back(session_);
  end();
  is_aborted_ = true;
}

void soci_transaction::commit() {
  home_.require();
  if (is_lent_) detail::throw_commit_in_callback();
  const auto& backend = backend_of(session_);
  if (open_ && !backend.is_in_transaction(session_)) {
    end();
    detail::throw_over_before_commit();
  }
  if (!open_) throw error{errc::misuse, "the transaction has ended already: begin another one"};
  backend.commit(session_);
  end();
}

using rows = row_transaction<soci_transaction>;

std::optional<refusal> rows::begin(std::optional<soci_transaction>& transaction,
                                   ::soci::session& session, milliseconds slice) {
  auto begun = backend_of(session).begin(session, slice);
  if (begun.refused) return begun.refused;
  transaction.emplace(session, soci_transaction::begun{std::move(begun.kept)});
  return {};
}

std::optional<refusal> rows::begin_locked(std::optional<soci_transaction>& transaction,
                                          ::soci::session& session, const lock_keys& keys,
                                          milliseconds slice, const soci_table& table) {
  auto begun = backend_of(session).begin_locked(session, keys, slice, table);
  if (begun.refused) return begun.refused;
  transaction.emplace(session, soci_transaction::begun{std::move(begun.kept)});
  return {};
}

outcome<version> rows::read(soci_transaction& transaction, const lock_key& key,
                            const soci_table& table) {
  return read_version(transaction.session(), key, table);
}

commit_result rows::try_commit(soci_transaction& transaction, const lock_key& key, version seen,
                               const soci_table& table) {
  return rowlock::try_commit(transaction.session(), key, seen, table);
}

void rows::fence(soci_transaction& transaction, const fenced_leases& leases,
                 const fence_options& options, const soci_table& table) {
  try {
    rowlock::fence(transaction.session_, leases, options, table);
  } catch (const lease_lost&) {
    transaction.end();
    throw;
  }
}

void rows::release_with(soci_transaction& transaction, const fenced_leases& leases,
                        const release_options& options, const soci_table& table) {
  try {
    rowlock::release_with(transaction.session_, leases, options, table);
  } catch (const lease_lost&) {
    transaction.end();
    throw;
  }
}

void rows::count_failure(::soci::session& session, const lock_keys& keys,
                         const soci_table& table) noexcept {
  try {
    backend_of(session).count_failures(session, keys, table);
  } catch (...) {  // best effort: the callback's own exception matters more
  }
}

namespace {

using through_soci::backend_of;
using through_soci::isolation;

outcome<row_lock> lock_rows(::soci::session& session, const lock_keys& keys,
                            const retry_policy& wait, const soci_table& table, isolation known) {
  const auto& backend = backend_of(session);
  const auto& policy = backend.about.can_wait_inside ? wait : no_wait();
  return detail::reported_lock(keys, [&] {
    return detail::lock_patiently(policy, [&](milliseconds slice) {
      return backend.try_to_lock(session, keys, slice, table, known);
    });
  });
}

}  // namespace

outcome<row_lock> lock_rows(soci_transaction& transaction, const lock_keys& keys,
                            const wait_policy& wait, const soci_table& table) {
  return lock_rows(transaction.session(), keys, wait, table, isolation::as_we_began_it);
}

outcome<row_lock> lock_rows(::soci::session& transaction, const lock_keys& keys,
                            const wait_policy& wait, const soci_table& table) {
  return lock_rows(transaction, keys, wait, table, isolation::as_the_session_says);
}

outcome<version> read_version(::soci::session& transaction, const lock_key& key,
                              const soci_table& table) {
  check(key);
  return backend_of(transaction).read_version(transaction, key, table);
}

commit_result try_commit(::soci::session& transaction, const lock_key& key, version seen,
                         const soci_table& table) {
  check(key);
  return detail::reported_commit(
      key, [&] { return backend_of(transaction).try_commit(transaction, key, seen, table); });
}

commit_result try_commit(::soci::session& transaction, const versioned_table& table,
                         const row_id& id, std::int64_t seen) {
  return detail::reported_commit(
      table, id, [&] { return backend_of(transaction).try_commit(transaction, table, id, seen); });
}

outcome<std::int64_t> read_version(::soci::session& transaction, const versioned_table& table,
                                   const row_id& id) {
  return backend_of(transaction).read_version(transaction, table, id);
}

outcome<void> lock_entity(::soci::session& transaction, const entity_table& entity,
                          const row_id& id, const wait_policy& wait, const soci_table& table) {
  return detail::reported_lock(entity, id, [&] {
    return backend_of(transaction).lock_entity(transaction, entity, id, wait, table);
  });
}

namespace {

void prove(::soci::session& session, const fenced_leases& leases, const fence_options& options,
           std::span<const release_request> releases, const soci_table& table) {
  if (options.idle_limit <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the idle limit of a fence must be above zero"};
  }
  const auto& backend = through_soci::backend_of(session);
  const auto proved = backend.prove(session, leases, options, releases, table);
  if (proved.found != detail::fence_try::held) {
    backend.roll_back(session);
    detail::throw_not_proved(leases, proved.found);
  }
  detail::released_within(leases, proved.unset_as);
}

}  // namespace

void fence(::soci::session& transaction, const fenced_leases& leases, const fence_options& options,
           const soci_table& table) {
  prove(transaction, leases, options, {}, table);
}

void release_with(::soci::session& transaction, const fenced_leases& leases,
                  const release_options& options, const soci_table& table) {
  prove(transaction, leases, {}, detail::to_release(leases, options), table);
}

}  // namespace rowlock
