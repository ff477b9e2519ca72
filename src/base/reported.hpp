// Calls in a transaction, reported to the observations of this process.
#ifndef ROWLOCK_BASE_REPORTED_HPP
#define ROWLOCK_BASE_REPORTED_HPP

#include "rowlock/lock_key.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock::detail {

/// Returns what `call` returns, and reports it.
template <class Call>
auto reported(const transaction_report& report, const Call& call) {
  auto end = call();
  report.emit_end(end);
  return end;
}

/// Of a call that locks `keys`.
template <class Call>
auto reported_lock(const lock_keys& keys, const Call& call) {
  const auto all = keys.in_order();
  return reported({transaction_work::row_lock, all.size(), [&] { return all.front(); }}, call);
}

/// Of a call that moves the version of `key`.
template <class Call>
auto reported_commit(const lock_key& key, const Call& call) {
  return reported({transaction_work::optimistic_commit, 1, [&] { return key; }}, call);
}

}  // namespace rowlock::detail

#endif
