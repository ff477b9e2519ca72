// A counting semaphore.
#include "rowlock/semaphore.hpp"

#include <optional>
#include <utility>

#include "lease/lease_keeper.hpp"
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
  locks_.check_for_several(options);
  const auto keeper = locks_.keeper_;
  keeper->home().require();
  const auto record = locks_.in_scope(rows_->record());
  const auto here = keeper->begin_operation();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = record};
  detail::set_attempt attempt{
      *keeper, options.wait, "permits of", {record}, options.correlation_id.value_or("")};
  if (auto refused = rows_->agree(locks_, attempt)) return *std::move(refused);
  std::optional<lease> held;
  auto refused = attempt.acquire([&]() -> std::optional<detail::obstacle> {
    const auto slots = locks_.in_scope(rows_->slots());
    auto taken = locks_.try_one_of(slots, options, attempt);
    if (!taken.acquired()) return detail::obstacle{taken.refusal(), slots};
    held.emplace(*std::move(taken));
    return std::nullopt;
  });
  if (refused) return *std::move(refused);
  lock_table::write_first_note(*held, options.note);
  return *std::move(held);
}

outcome<void> semaphore::set_permits(lock_table& locks, const lock_key& name, std::size_t permits,
                                     const wait_policy& wait) {
  return detail::numbered_rows{name, permits, what}.impose(locks, wait);
}

}  // namespace rowlock
