// A lock for many readers or one writer.
#include "rowlock/read_write_lock.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"
#include "sync/numbered_rows.hpp"

namespace rowlock {

read_write_lock::read_write_lock(lock_table& locks, lock_key name, std::size_t readers)
    : locks_{locks},
      rows_{std::make_unique<detail::numbered_rows>(std::move(name), readers, "readers",
                                                    detail::numbering::fixed)} {
  if (readers >= largest_set) {
    throw error{errc::misuse, "a writer takes the rows of all readers and the gate: at most 999"};
  }
}

read_write_lock::~read_write_lock() = default;

lock_key read_write_lock::gate() const { return locks_.in_scope(rows_->gate()); }

outcome<lease> read_write_lock::try_acquire_shared(const acquire_options& options) {
  auto held = rows_->acquire<lease>(
      locks_, options,
      [&](detail::set_attempt& attempt,
          std::optional<lease>& reader) -> std::optional<detail::obstacle> {
        // A writer waits for a slot that an earlier try may have taken: so first that slot.
        auto closed = attempt.is_in_doubt() ? std::nullopt : writer();
        if (closed) return detail::obstacle{*std::move(closed), {gate()}};
        return locks_.try_one_of(locks_.in_scope(rows_->slots()), options, attempt, reader);
      });
  if (held.acquired()) lock_table::write_first_note(*held, options.note);
  return held;
}

std::optional<refusal> read_write_lock::writer() {
  const auto seen = locks_.try_look(rows_->gate());
  if (!seen.acquired()) return seen.refusal();
  const auto& gate = *seen;
  if (!gate || !gate->is_live()) return std::nullopt;
  return refusal{.reason = refusal_reason::held,
                 .key = gate->key,
                 .holder = gate->holder,
                 .remaining = gate->remaining,
                 .current = gate->version};
}

std::optional<detail::obstacle> read_write_lock::collect(lease_set& held,
                                                         const acquire_options& options,
                                                         detail::set_attempt& attempt) {
  auto missing = locks_.in_scope(rows_->slots());
  const auto leave_missing = [&] {
    std::erase_if(missing, [&](const lock_key& key) { return held.find(key) != nullptr; });
  };
  const auto in_the_way = [&](refusal why) {
    missing.push_back(gate());  // its release lets all readers in line try
    return detail::obstacle{std::move(why), std::move(missing), true};
  };
  leave_missing();
  auto taken = locks_.try_once(missing, missing.size(), options, held.lost_, attempt);
  if (!taken.acquired()) return in_the_way(taken.refusal());
  held.take(*std::move(taken));
  leave_missing();
  if (missing.empty()) return std::nullopt;
  return in_the_way({.reason = refusal_reason::held, .key = missing.front()});
}

outcome<lease_set> read_write_lock::try_acquire_exclusive(const acquire_options& options) {
  if (options.hold_at_least.count() != 0) {
    throw error{errc::misuse,
                "a writer who waits may give back rows it has: it cannot hold them at least some "
                "time; leave hold_at_least out"};
  }
  const auto slots = locks_.in_scope(rows_->slots());
  auto all = slots;
  all.push_back(gate());
  return rows_->acquire<lease_set>(
      locks_, options,
      [&](detail::set_attempt& attempt,
          std::optional<lease_set>& held) -> std::optional<detail::obstacle> {
        const auto take = [&](const std::vector<lock_key>& keys) -> std::optional<refusal> {
          auto taken = locks_.try_once(keys, {}, options, {}, attempt);
          if (!taken.acquired()) return taken.refusal();
          held.emplace(*std::move(taken));
          return std::nullopt;
        };
        if (held && !held->is_valid()) {
          held.reset();
          attempt.begin_anew();
        }
        if (!held) {
          auto why = take(all);
          if (!why) return std::nullopt;
          if (!attempt.is_patient()) return detail::obstacle{*std::move(why), slots};
          if (auto closed = take({gate()})) return detail::obstacle{*std::move(closed), {gate()}};
        }
        return collect(*held, options, attempt);
      });
}

}  // namespace rowlock
