// A counting semaphore.
#include "rowlock/semaphore.hpp"

#include <optional>
#include <utility>

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
  auto held = rows_->acquire<lease>(locks_, options, [&](auto& attempt, auto& permit) {
    return locks_.try_one_of(locks_.in_scope(rows_->slots()), options, attempt, permit);
  });
  if (!held.acquired()) {
    auto why = held.refusal();
    const bool is_of_record =
        why.reason != refusal_reason::stopped && why.key == locks_.in_scope(rows_->record());
    if (!is_of_record) why.key = locks_.in_scope(rows_->name());
    return why;
  }
  lock_table::write_first_note(*held, options.note);
  return held;
}

outcome<void> semaphore::set_permits(lock_table& locks, const lock_key& name, std::size_t permits,
                                     const wait_policy& wait) {
  return detail::numbered_rows{name, permits, what}.impose(locks, wait);
}

}  // namespace rowlock
