// Many readers of one name, or one writer.
#include "rowlock/read_write_lock.hpp"

#include <utility>
#include <vector>

#include "core/polling.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

namespace {

acquire_options at_once(acquire_options options) {
  options.wait = no_wait();
  return options;
}

}  // namespace

read_write_lock::read_write_lock(lock_table& locks, lock_key name, std::size_t readers)
    : locks_{locks}, rows_{std::move(name), readers, "readers"} {
  if (readers >= largest_set) {
    throw error{errc::misuse, "a writer takes the rows of all readers and the gate: at most 999"};
  }
}

outcome<lease> read_write_lock::try_once_shared(const acquire_options& options) {
  if (auto refused = rows_.agree(locks_)) return *std::move(refused);
  const auto seen = locks_.try_look(rows_.gate());
  if (!seen.acquired()) return seen.refusal();
  if (const auto& gate = *seen; gate && gate->is_live()) {
    return refusal{.reason = refusal_reason::held,
                   .key = gate->key,
                   .holder = gate->holder,
                   .remaining = gate->remaining,
                   .current = gate->version};
  }
  detail::polling pauses{*locks_.keeper_, no_wait()};
  return locks_.try_acquire_one_of(rows_.slots(), options, pauses);
}

outcome<lease> read_write_lock::try_acquire_shared(const acquire_options& options) {
  locks_.keeper_->home().require();
  for (detail::polling pauses{*locks_.keeper_, options.wait};;) {
    auto attempt = try_once_shared(options);
    if (attempt.acquired()) return attempt;
    if (auto refused = pauses.pause(attempt.refusal())) return *std::move(refused);
  }
}

std::optional<refusal> read_write_lock::collect(lease_set& held, const acquire_options& options) {
  auto missing = rows_.slots();
  std::erase_if(missing,
                [&](const lock_key& key) { return held.find(locks_.in_scope(key)) != nullptr; });
  const auto wanted = missing.size();
  auto taken = locks_.try_acquire_set(missing, wanted, options, held.lost_);
  if (!taken.acquired()) return taken.refusal();
  const bool is_all = taken->size() == wanted;
  held.take(*std::move(taken));
  if (is_all) return std::nullopt;
  return refusal{.reason = refusal_reason::held, .key = locks_.in_scope(rows_.gate())};
}

outcome<lease_set> read_write_lock::try_acquire_exclusive(const acquire_options& options) {
  if (options.hold_at_least.count() != 0) {
    throw error{errc::misuse,
                "a writer who waits may give back rows it has: it cannot hold them at least some "
                "time; leave hold_at_least out"};
  }
  locks_.keeper_->home().require();
  auto all = rows_.slots();
  all.push_back(rows_.gate());
  const auto now = at_once(options);
  std::optional<lease_set> held;
  for (detail::polling pauses{*locks_.keeper_, options.wait};;) {
    std::optional<refusal> refused;
    if (held && !held->is_valid()) held.reset();
    if (held) {
      refused = collect(*held, now);
      if (!refused) return *std::move(held);
    } else if (refused = rows_.agree(locks_); !refused) {
      auto whole = locks_.try_acquire_all(all, now);
      if (whole.acquired()) return whole;
      refused = whole.refusal();
      if (!pauses.is_patient()) return *std::move(refused);
      auto gate = locks_.try_acquire_all({rows_.gate()}, now);
      if (gate.acquired()) {
        held.emplace(*std::move(gate));
      } else {
        refused = gate.refusal();
      }
    }
    if (auto end = pauses.pause(*std::move(refused))) return *std::move(end);
  }
}

}  // namespace rowlock
