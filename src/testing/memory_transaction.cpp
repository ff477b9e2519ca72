// Transactions of the in-memory store.
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/reported.hpp"
#include "rowlock/error.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "testing/memory_rows.hpp"

namespace rowlock {

using detail::memory_row;

struct memory_transaction::changes {
  std::map<lock_key, memory_row> rows;
};

memory_transaction::memory_transaction(memory_store& store)
    : store_{store}, rows_{store.rows()}, changed_{std::make_unique<changes>()} {}

memory_transaction::~memory_transaction() {
  if (store_.home().is_here()) forget_locks();
}

void memory_transaction::require_open() const {
  if (!is_ended_) return;
  throw error{errc::misuse,
              "the transaction is over, committed or ended by a fence: begin another one"};
}

void memory_transaction::abort() {
  if (is_ended_) return;
  store_.home().require();
  forget_locks();
  is_ended_ = true;
  is_aborted_ = true;
}

void memory_transaction::commit() {
  if (is_lent_) detail::throw_commit_in_callback();
  require_open();
  is_ended_ = true;
  {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    for (auto& [key, row] : changed_->rows) {
      row.is_committed = true;
      row.locked_by = this;
      rows_.by_key[key] = row;
    }
  }
  forget_locks();
}

void memory_transaction::forget_locks() {
  const detail::checked_lock lock{rows_.mutex};
  for (const auto& [key, row] : changed_->rows) {
    const auto found = rows_.by_key.find(key);
    if (found->second.is_committed) {
      found->second.locked_by = nullptr;
    } else {
      rows_.by_key.erase(found);
    }
  }
  changed_->rows.clear();
}

bool memory_transaction::is_free_of_others(const memory_row& found) const {
  return found.locked_by == nullptr || found.locked_by == this;
}

std::optional<refusal> memory_transaction::obstacle(const lock_key& key) const {
  rows_.mutex.assume_locked();
  const auto found = rows_.by_key.find(key);
  if (found == rows_.by_key.end() || changed_->rows.contains(key)) return {};
  const auto& row = found->second;
  if (row.is_committed && rows_.is_live(row)) {
    const auto state = rows_.state_of(key, row);
    return refusal{.reason = refusal_reason::held,
                   .key = key,
                   .holder = state.holder,
                   .remaining = state.remaining,
                   .current = state.version};
  }
  if (is_free_of_others(row)) return {};
  return refusal{.reason = refusal_reason::busy, .key = key, .current = row.version};
}

memory_row& memory_transaction::lock(const lock_key& key) {
  rows_.mutex.assume_locked();
  auto [found, is_new] = rows_.by_key.try_emplace(key);
  if (is_new) found->second.is_committed = false;
  found->second.locked_by = this;
  return changed_->rows.try_emplace(key, found->second).first->second;
}

std::optional<refusal> memory_transaction::lock_all(const lock_keys& keys) {
  require_open();
  const detail::checked_lock lock_store{rows_.mutex_at_home()};
  for (const auto& key : keys.in_order()) {
    if (auto refused = obstacle(key)) return refused;
  }
  for (const auto& key : keys.in_order()) {
    auto& row = lock(key);
    if (row.owner) ++row.shown.expiry_count;
    rows_.use(row, "locked");
  }
  return {};
}

outcome<version> memory_transaction::read(const lock_key& key) {
  require_open();
  check(key);
  const detail::checked_lock lock_store{rows_.mutex_at_home()};
  if (const auto changed = changed_->rows.find(key); changed != changed_->rows.end()) {
    return changed->second.version;
  }
  const auto found = rows_.by_key.find(key);
  const bool is_missing = found == rows_.by_key.end();
  // An unowned row is read as committed, even if another transaction has it locked.
  if (!is_missing && found->second.is_committed && !found->second.owner &&
      !rows_.is_live(found->second)) {
    return found->second.version;
  }
  if (auto refused = obstacle(key)) return *std::move(refused);
  auto& row = lock(key);
  if (row.owner) ++row.shown.expiry_count;
  rows_.end(row, "ran out");
  return row.version;
}

commit_result memory_transaction::try_commit(const lock_key& key, version seen) {
  require_open();
  check(key);
  const detail::checked_lock lock_store{rows_.mutex_at_home()};
  const auto found = rows_.by_key.find(key);
  if (found == rows_.by_key.end() || !is_free_of_others(found->second)) {
    return commit_result::stale;
  }
  const auto changed = changed_->rows.find(key);
  const auto& visible = changed == changed_->rows.end() ? found->second : changed->second;
  if (visible.version != seen || visible.owner || rows_.is_live(visible)) {
    return commit_result::stale;
  }
  rows_.use(lock(key), "committed");
  return commit_result::committed;
}

detail::fence_try memory_transaction::try_to_fence(const fenced_leases& leases,
                                                   const std::vector<release_request>& releases) {
  const detail::checked_lock lock_store{rows_.mutex_at_home()};
  for (const lease& each : leases.all()) {
    const auto found = rows_.by_key.find(each.key());
    if (found == rows_.by_key.end()) return detail::fence_try::lost;
    const auto changed = changed_->rows.find(each.key());
    const auto& row = changed == changed_->rows.end() ? found->second : changed->second;
    if (!row.owner || row.version != each.token()) return detail::fence_try::lost;
    if (!is_free_of_others(found->second)) return detail::fence_try::in_use;
  }
  for (const lease& each : leases.all()) lock(each.key());
  for (const auto& request : releases) rows_.release(lock(request.key), request);
  return detail::fence_try::held;
}

void memory_transaction::prove(const fenced_leases& leases,
                               const std::vector<release_request>& releases) {
  require_open();
  const auto proved =
      detail::prove_patiently(leases, [&] { return try_to_fence(leases, releases); });
  if (proved == detail::fence_try::held) return;
  forget_locks();
  is_ended_ = true;
  detail::throw_not_proved(leases, proved);
}

void fence(memory_transaction& transaction, const fenced_leases& leases) {
  transaction.prove(leases);
}

void release_with(memory_transaction& transaction, const fenced_leases& leases,
                  const release_options& options) {
  transaction.prove(leases, detail::to_release(leases, options));
  std::vector<version> unset_as;
  for (const lease& each : leases.all()) {
    unset_as.push_back(transaction.changed_->rows.at(each.key()).version);
  }
  detail::released_within(leases, unset_as);
}

outcome<row_lock> lock_rows(memory_transaction& transaction, const lock_keys& keys,
                            const wait_policy& wait) {
  return detail::reported_lock(keys, [&]() -> outcome<row_lock> {
    auto refused = detail::wait_for_rows(
        wait, [&](std::chrono::milliseconds) { return transaction.lock_all(keys); });
    if (refused) return *std::move(refused);
    row_lock locked;
    for (const auto& key : keys.in_order()) {
      locked.rows.push_back({key, transaction.changed_->rows.at(key).version});
    }
    return locked;
  });
}

outcome<version> read_version(memory_transaction& transaction, const lock_key& key) {
  return transaction.read(key);
}

commit_result try_commit(memory_transaction& transaction, const lock_key& key, version seen) {
  return detail::reported_commit(key, [&] { return transaction.try_commit(key, seen); });
}

namespace {

void create(detail::memory_rows& rows, const lock_keys& keys) {
  const detail::checked_lock lock{rows.mutex_at_home()};
  for (const auto& key : keys.in_order()) {
    const auto [created, is_new] = rows.by_key.try_emplace(key);
    if (is_new) rows.move_version(created->second);
  }
}

}  // namespace

using rows = row_transaction<memory_transaction>;

std::optional<refusal> rows::begin(std::optional<memory_transaction>& transaction,
                                   memory_store& store, std::chrono::milliseconds /*slice*/) {
  transaction.emplace(store);
  return {};
}

std::optional<refusal> rows::begin_locked(std::optional<memory_transaction>& transaction,
                                          memory_store& store, const lock_keys& keys,
                                          std::chrono::milliseconds /*slice*/,
                                          const table_type& /*table*/) {
  create(store.rows(), keys);
  transaction.emplace(store);
  auto refused = transaction->lock_all(keys);
  if (refused) transaction.reset();
  return refused;
}

outcome<version> rows::read(memory_transaction& transaction, const lock_key& key,
                            const table_type& /*table*/) {
  return read_version(transaction, key);
}

commit_result rows::try_commit(memory_transaction& transaction, const lock_key& key, version seen,
                               const table_type& /*table*/) {
  return rowlock::try_commit(transaction, key, seen);
}

void rows::fence(memory_transaction& transaction, const fenced_leases& leases,
                 const fence_options& /*options*/, const table_type& /*table*/) {
  rowlock::fence(transaction, leases);
}

void rows::release_with(memory_transaction& transaction, const fenced_leases& leases,
                        const release_options& options, const table_type& /*table*/) {
  rowlock::release_with(transaction, leases, options);
}

void rows::count_failure(memory_store& store, const lock_keys& keys,
                         const table_type& /*table*/) noexcept {
  if (!store.home().is_here()) return;
  auto& table = store.rows();
  const detail::checked_lock lock{table.mutex};
  for (const auto& key : keys.in_order()) {
    const auto found = table.by_key.find(key);
    const bool is_free = found != table.by_key.end() && found->second.locked_by == nullptr;
    if (is_free && !table.is_live(found->second)) ++found->second.shown.failure_count;
  }
}

}  // namespace rowlock
