// A holder that takes a key in one of the three ways and keeps it until `end`.
#include "support/possession.hpp"

#include <ostream>
#include <stdexcept>
#include <utility>

namespace rowlock::tests {

std::vector<mode> every_mode() { return {mode::lease, mode::row_lock, mode::optimistic_commit}; }

std::string mode_name(mode named) {
  switch (named) {
    case mode::lease:
      return "lease";
    case mode::row_lock:
      return "row_lock";
    case mode::optimistic_commit:
      return "optimistic_commit";
  }
  throw std::logic_error{"a mode without a name"};
}

mode mode_named(const std::string& name) {
  for (const mode each : every_mode()) {
    if (mode_name(each) == name) return each;
  }
  throw std::invalid_argument{"no mode is called " + name};
}

std::ostream& operator<<(std::ostream& out, mode shown) { return out << mode_name(shown); }

possession::possession(store& rows, std::unique_ptr<app_connection> connection)
    : locks_{rows, {.ttl = std::chrono::hours{1}}}, connection_{std::move(connection)} {}

outcome<version> possession::try_acquire(mode how, const lock_key& key) {
  if (how == mode::lease) {
    auto acquired = locks_.try_acquire(key);
    if (!acquired.acquired()) return acquired.refusal();
    lease_.emplace(*std::move(acquired));
    return lease_->token();
  }
  auto acquired = try_in_transaction(how, key);
  if (!acquired.acquired()) transaction_.reset();
  return acquired;
}

outcome<version> possession::try_in_transaction(mode how, const lock_key& key) {
  auto begun = connection_->begin();
  if (!begun.acquired()) return begun.refusal();
  transaction_ = std::move(*begun);
  if (how == mode::row_lock) {
    const auto locked = transaction_->lock_rows(key, no_wait());
    if (!locked.acquired()) return locked.refusal();
    return locked->rows.front().version;
  }
  const auto seen = transaction_->read_version(key);
  if (!seen.acquired()) return seen.refusal();
  if (transaction_->try_commit(key, *seen) == commit_result::committed) return *seen;
  return refusal{.reason = refusal_reason::stale, .key = key};
}

void possession::end() {
  if (lease_ && lease_->release() != release_result::released) {
    throw std::runtime_error{"the lease could not be released"};
  }
  if (transaction_) transaction_->commit();
  lease_.reset();
  transaction_.reset();
}

}  // namespace rowlock::tests
