// A counting semaphore.
#include "rowlock/semaphore.hpp"

#include <utility>

#include "lock/set_attempt.hpp"
#include "sync/numbered_rows.hpp"

namespace rowlock {

namespace {

constexpr const char* what = "permits";

}  // namespace

semaphore::semaphore(lock_table& locks, lock_key name, std::size_t permits)
    : locks_{locks},
      rows_{std::make_unique<detail::numbered_rows>(std::move(name), permits, what)} {}

semaphore::~semaphore() = default;

outcome<lease> semaphore::try_acquire(const acquire_options& options) {
  locks_.keeper_->home().require();
  detail::retry_pauses pauses{*locks_.keeper_, options.wait};
  const auto agree = [this] { return rows_->agree(locks_); };
  if (auto over = pauses.go_on(locks_.in_scope(rows_->record()), agree)) return *std::move(over);
  pauses.forget_doubt();  // the doubt was about the record, not a permit
  return locks_.try_acquire_one_of(rows_->slots(), options, pauses);
}

outcome<void> semaphore::set_permits(lock_table& locks, const lock_key& name, std::size_t permits,
                                     const wait_policy& wait) {
  return detail::numbered_rows{name, permits, what}.impose(locks, wait);
}

}  // namespace rowlock
