// A lock for many readers or one writer.
#include "rowlock/read_write_lock.hpp"

#include <utility>
#include <vector>

#include "lock/set_attempt.hpp"
#include "rowlock/error.hpp"
#include "sync/numbered_rows.hpp"

namespace rowlock {

read_write_lock::read_write_lock(lock_table& locks, lock_key name, std::size_t readers)
    : locks_{locks},
      rows_{std::make_unique<detail::numbered_rows>(std::move(name), readers, "readers")} {
  if (readers >= largest_set) {
    throw error{errc::misuse, "a writer takes the rows of all readers and the gate: at most 999"};
  }
}

read_write_lock::~read_write_lock() = default;

outcome<lease> read_write_lock::try_once_shared(const acquire_options& options,
                                                detail::retry_pauses& once) {
  if (auto refused = rows_->agree(locks_)) return *std::move(refused);
  const auto seen = locks_.try_look(rows_->gate());
  if (!seen.acquired()) return seen.refusal();
  if (const auto& gate = *seen; gate && gate->is_live()) {
    return refusal{.reason = refusal_reason::held,
                   .key = gate->key,
                   .holder = gate->holder,
                   .remaining = gate->remaining,
                   .current = gate->version};
  }
  return locks_.try_acquire_one_of(rows_->slots(), options, once);
}

outcome<lease> read_write_lock::try_acquire_shared(const acquire_options& options) {
  locks_.keeper_->home().require();
  detail::retry_pauses pauses{*locks_.keeper_, options.wait};
  detail::retry_pauses once{*locks_.keeper_, pauses};
  std::optional<lease> held;
  auto over = pauses.go_on(key(), [&]() -> std::optional<refusal> {
    auto attempt = try_once_shared(options, once);
    if (!attempt.acquired()) return attempt.refusal();
    held.emplace(*std::move(attempt));
    return std::nullopt;
  });
  if (over) return *std::move(over);
  return *std::move(held);
}

lock_key read_write_lock::key() const { return locks_.in_scope(rows_->gate()); }

std::optional<refusal> read_write_lock::collect(lease_set& held, const acquire_options& options,
                                                detail::retry_pauses& once) {
  auto missing = rows_->slots();
  std::erase_if(missing,
                [&](const lock_key& key) { return held.find(locks_.in_scope(key)) != nullptr; });
  const auto wanted = missing.size();
  auto taken = locks_.try_acquire_set(missing, wanted, options, held.lost_, once);
  if (!taken.acquired()) return taken.refusal();
  const bool is_all = taken->size() == wanted;
  held.take(*std::move(taken));
  if (is_all) return std::nullopt;
  return refusal{.reason = refusal_reason::held, .key = key()};
}

outcome<lease_set> read_write_lock::try_acquire_exclusive(const acquire_options& options) {
  if (options.hold_at_least.count() != 0) {
    throw error{errc::misuse,
                "a writer who waits may give back rows it has: it cannot hold them at least some "
                "time; leave hold_at_least out"};
  }
  locks_.keeper_->home().require();
  auto all = rows_->slots();
  all.push_back(rows_->gate());
  detail::retry_pauses pauses{*locks_.keeper_, options.wait};
  detail::retry_pauses once{*locks_.keeper_, pauses};
  const auto take = [&](const std::vector<lock_key>& keys) {
    return locks_.try_acquire_set(keys, {}, options, {}, once);
  };
  std::optional<lease_set> held;
  auto over = pauses.go_on(key(), [&]() -> std::optional<refusal> {
    if (held && !held->is_valid()) {
      held.reset();
      once.begin_anew();
    }
    if (held) return collect(*held, options, once);
    if (auto refused = rows_->agree(locks_)) return refused;
    auto whole = take(all);
    if (whole.acquired()) {
      held.emplace(*std::move(whole));
      return std::nullopt;
    }
    if (!pauses.is_patient()) return whole.refusal();
    auto gate = take({rows_->gate()});
    if (!gate.acquired()) return gate.refusal();
    held.emplace(*std::move(gate));
    return whole.refusal();
  });
  if (over) return *std::move(over);
  return *std::move(held);
}

}  // namespace rowlock
