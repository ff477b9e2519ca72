// At most so many holders of one name.
#include "rowlock/semaphore.hpp"

namespace rowlock {

namespace {

constexpr const char* what = "permits";

}  // namespace

semaphore::semaphore(lock_table& locks, lock_key name, std::size_t permits)
    : locks_{locks}, rows_{std::move(name), permits, what} {}

outcome<lease> semaphore::try_acquire(const acquire_options& options) {
  rows_.agree(locks_);
  return locks_.try_acquire_one_of(rows_.slots(), options);
}

void semaphore::set_permits(lock_table& locks, const lock_key& name, std::size_t permits) {
  detail::numbered_rows{name, permits, what}.impose(locks);
}

}  // namespace rowlock
