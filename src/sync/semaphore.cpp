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
      rows_{std::make_unique<detail::numbered_rows>(std::move(name), permits, what,
                                                    detail::numbering::changeable)} {}

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

std::vector<row_state> semaphore::held_among(const std::vector<lock_key>& rows) const {
  std::vector<row_state> held;
  for (auto& row : locks_.look_all(rows)) {
    if (row && row->is_live()) held.push_back(*std::move(row));
  }
  return held;
}

std::size_t semaphore::available() {
  rows_->read_number(locks_);
  const auto slots = rows_->slots();
  return slots.size() - held_among(slots).size();
}

std::vector<row_state> semaphore::held() const { return held_among(rows_->every_slot()); }

outcome<void> semaphore::set_permits(lock_table& locks, const lock_key& name, std::size_t permits,
                                     const wait_policy& wait) {
  detail::numbered_rows rows{name, permits, what, detail::numbering::changeable};
  return rows.impose(locks, wait);
}

}  // namespace rowlock
