// Acquisition of leases and reads of keys through a lock_table.
#include "rowlock/lock_table.hpp"

#include <array>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "base/limits.hpp"
#include "base/pause.hpp"
#include "base/process.hpp"
#include "lease/lease_keeper.hpp"
#include "lease/lease_times.hpp"
#include "lock/acquire_attempt.hpp"
#include "lock/set_attempt.hpp"
#include "lock/takeover.hpp"
#include "rowlock/error.hpp"
#include "rowlock/operators.hpp"

namespace rowlock {

namespace {

using detail::in_microseconds;

constexpr unsigned most_blocking_threads = 1024;

lock_options checked(lock_options options) {
  if (options.margin < std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "the margin is negative"};
  }
  if (options.time == nullptr) throw error{errc::misuse, "the time source is null"};
  if (options.blocking_threads == 0 || options.blocking_threads > most_blocking_threads) {
    throw error{errc::misuse,
                "blocking_threads must be between 1 and " + std::to_string(most_blocking_threads)};
  }
  check(options.batching);
  if (options.holder.empty()) options.holder = detail::holder_label();
  detail::check_times(options.ttl, options.renew_for, options);
  detail::check_progress(options.progress_within);
  detail::check_delay(options.ttl, options.lock_delay);
  const std::string room_for_thread(options.thread_in_holder ? 1 + detail::longest_thread_label : 0,
                                    ':');
  check(acquire_request{.key = {.type = "any", .source_id = "any"},
                        .owner = {},
                        .holder = options.holder + room_for_thread,
                        .ttl = in_microseconds(options.ttl) + in_microseconds(options.lock_delay)});
  return options;
}

std::string label_of(const acquire_options& options, const lock_options& usual) {
  if (options.holder && options.holder->empty()) {
    throw error{errc::misuse, "the holder label is empty: name the holder, or leave it out"};
  }
  if (options.holder) return *options.holder;
  return usual.thread_in_holder ? usual.holder + ':' + detail::thread_label() : usual.holder;
}

detail::lease_request to_wanted(lock_key key, const acquire_options& options, bool unless_done,
                                const lock_options& usual) {
  const auto ttl = options.ttl.value_or(usual.ttl);
  const auto lock_delay = options.lock_delay.value_or(usual.lock_delay);
  detail::lease_request wanted{
      .request = {.key = std::move(key),
                  .owner = make_owner_id(),
                  .holder = label_of(options, usual),
                  .ttl = in_microseconds(ttl) + in_microseconds(lock_delay),
                  .expected = options.expected,
                  .unless_done = unless_done,
                  .correlation_id = options.correlation_id.value_or("")},
      .renew_for = options.renew_for ? options.renew_for : usual.renew_for,
      .progress_within = options.progress_within ? options.progress_within : usual.progress_within,
      .lock_delay = lock_delay,
      .hold_at_least = options.hold_at_least,
      .durable_release = usual.durable_release,
      .asks = options.ask,
  };
  detail::check_times(ttl, wanted.renew_for, usual);
  detail::check_progress(wanted.progress_within);
  detail::check_delay(ttl, lock_delay);
  check(wanted.request);
  detail::check_hold(in_microseconds(options.hold_at_least));
  if (options.note) check(note_request{wanted.request.key, {}, {}, *options.note});
  return wanted;
}

void throw_for_one_key() {
  throw error{errc::misuse,
              "an expected version and a note belong to one key: acquire the keys one by one"};
}

std::optional<row_state> prepare(detail::lease_keeper& leases, const lock_key& key) {
  const auto began = leases.now();
  try {
    return leases.target().read(std::array{key}, read_mode::ready_to_commit).front();
  } catch (...) {
    leases.events().emit_fault(fault_operation::read, key, 1, std::current_exception(),
                               leases.now() - began);
    throw;
  }
}

}  // namespace

lock_table::lock_table(store& rows, lock_options options)
    : keeper_{detail::make_owned_at_home<detail::lease_keeper>(rows, checked(std::move(options)))} {
}

lock_table::lock_table(std::shared_ptr<detail::lease_keeper> keeper, std::string scope)
    : keeper_{std::move(keeper)}, scope_{std::move(scope)}, is_whole_{false} {}

lock_table::~lock_table() {
  if (is_whole_) keeper_->close();
}

lock_table lock_table::within(std::string_view scope) const {
  if (!scope_.empty()) {
    throw error{errc::misuse, "the table is bound to a scope already: scopes do not nest"};
  }
  static_cast<void>(scoped(scope, {.type = "any", .source_id = "any"}));
  return {keeper_, std::string{scope}};
}

lock_key lock_table::in_scope(const lock_key& key) const {
  return scope_.empty() ? key : scoped(scope_, key);
}

std::vector<lock_key> lock_table::in_scope(const std::vector<lock_key>& keys) const {
  std::vector<lock_key> stored;
  std::set<lock_key> seen;
  for (const auto& key : keys) {
    auto each = in_scope(key);
    if (seen.insert(each).second) stored.push_back(std::move(each));
  }
  return stored;
}

void lock_table::check_once(const lock_key& key, std::chrono::milliseconds keep_for) {
  check(release_request{
      .key = key, .owner = {}, .version = {}, .done_for = in_microseconds(keep_for)});
}

detail::lease_request lock_table::wanted(const lock_key& key, const acquire_options& options,
                                         bool unless_done) const {
  return to_wanted(in_scope(key), options, unless_done, keeper_->options());
}

outcome<lease> lock_table::conclude(const std::shared_ptr<detail::lease_keeper>& leases,
                                    detail::attempt_end end,
                                    const std::optional<std::string>& note) {
  if (end.fault != nullptr) std::rethrow_exception(end.fault);
  if (end.refused) return *std::move(end.refused);
  lease granted{leases, std::move(end.granted)};
  write_first_note(granted, note);
  return granted;
}

outcome<lease> lock_table::try_acquire(const lock_key& key, const acquire_options& options) {
  return try_acquire(key, options, false);
}

outcome<lease> lock_table::take_over(std::string_view passed_on, const acquire_options& options) {
  const auto passed = detail::to_passed_lease(passed_on);
  if (!scope_.empty() && !passed.key.type.starts_with(scope_ + '/')) {
    throw error{errc::misuse,
                "the lease that was passed on is not of the scope that this table is "
                "bound to: take it over through a table of its scope, or of none"};
  }
  if (options.expected)
    throw error{errc::misuse, "a lease that was passed on has one version only"};
  if (detail::is_patient(options.wait)) {
    throw error{errc::misuse,
                "a lease that was passed on is there at once or never: leave out the wait"};
  }
  auto requested = to_wanted(passed.key, options, false, keeper_->options());
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = passed.key};
  return conclude(keeper_, detail::takeover{*keeper_, std::move(requested)}.run(passed),
                  options.note);
}

ask_result lock_table::ask(const lock_key& key, const std::string& reason) {
  const auto stored = in_scope(key);
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (here) return rowlock::ask(keeper_->target(), stored, reason, keeper_->options().holder);
  throw error{errc::unavailable, "the lock_table is being destroyed: ask another one"};
}

key_watch lock_table::watch(const lock_key& key, watch_callback callback) {
  auto stored = in_scope(key);
  check(stored);
  if (callback == nullptr) throw error{errc::misuse, "a watch has no callback: pass one"};
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (here) return {keeper_, keeper_->watch(std::move(stored), std::move(callback))};
  throw error{errc::unavailable, "the lock_table is being destroyed: watch through another one"};
}

void lock_table::write_first_note(lease& granted, const std::optional<std::string>& note) {
  if (!note) return;
  try {
    static_cast<void>(granted.write_note(*note));
  } catch (...) {
    granted.kept_->give_up_hold();
    throw;
  }
}

outcome<lease> lock_table::try_acquire(const lock_key& key, const acquire_options& options,
                                       bool unless_done) {
  auto requested = wanted(key, options, unless_done);
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = requested.request.key};
  return conclude(keeper_, detail::acquire(*keeper_, std::move(requested), options.wait),
                  options.note);
}

outcome<lease_set> lock_table::try_acquire_all(const std::vector<lock_key>& keys,
                                               const acquire_options& options) {
  return try_acquire_set(keys, {}, options, {});
}

outcome<lease_set> lock_table::try_acquire_any(const std::vector<lock_key>& keys, std::size_t limit,
                                               const acquire_options& options) {
  if (limit == 0) throw error{errc::misuse, "at most no key is asked for: ask for one or more"};
  return try_acquire_set(keys, limit, options, {});
}

outcome<lease_set> lock_table::try_acquire_set(const std::vector<lock_key>& keys,
                                               std::optional<std::size_t> limit,
                                               const acquire_options& options,
                                               std::stop_source lost) {
  if (options.note) throw_for_one_key();
  check_for_several(options);
  const auto wanted = in_scope(keys);
  if (wanted.size() > largest_set) {
    throw error{errc::misuse, std::to_string(wanted.size()) + " keys at once, more than " +
                                  std::to_string(largest_set) +
                                  ": split the set, or lock something coarser"};
  }
  keeper_->home().require();
  if (wanted.empty()) return lease_set{std::move(lost), {}};
  const auto here = keeper_->begin_operation();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = wanted.front()};
  detail::set_attempt attempt{*keeper_, options, limit ? "any of" : "all of", wanted};
  std::optional<lease_set> held;
  const auto try_for_all = [&]() -> std::optional<detail::obstacle> {
    auto taken = try_once(wanted, limit, options, lost, attempt);
    if (taken.acquired()) {
      held.emplace(*std::move(taken));
      return std::nullopt;
    }
    const auto& why = taken.refusal();
    return detail::obstacle{why, limit ? wanted : std::vector{why.key}};
  };
  auto refused = attempt.run([&] { return attempt.go_on(try_for_all); });
  if (refused) return *std::move(refused);
  return *std::move(held);
}

void lock_table::check_for_several(const acquire_options& options) const {
  if (options.expected) throw_for_one_key();
  to_wanted({.type = "any", .source_id = "any"}, options, false, keeper_->options());
}

outcome<lease_set> lock_table::try_once(const std::vector<lock_key>& keys,
                                        std::optional<std::size_t> limit,
                                        const acquire_options& options, std::stop_source lost,
                                        detail::set_attempt& attempt) {
  detail::set_request wanted{.limit = limit};
  for (const auto& key : keys) {
    auto& each = wanted.leases.emplace_back(to_wanted(key, options, false, keeper_->options()));
    each.request.owner = attempt.owner();
    each.one_lost = lost;
  }
  auto answer = attempt.try_for(wanted);
  if (answer.refused) return *std::move(answer.refused);
  std::vector<lease> granted;
  granted.reserve(answer.granted.size());
  for (auto& each : answer.granted) granted.push_back(lease{keeper_, std::move(each)});
  return lease_set{std::move(lost), std::move(granted)};
}

std::optional<detail::obstacle> lock_table::try_one_of(const std::vector<lock_key>& keys,
                                                       const acquire_options& options,
                                                       detail::set_attempt& attempt,
                                                       std::optional<lease>& held) {
  auto taken = try_once(keys, 1, options, {}, attempt);
  if (!taken.acquired()) return detail::obstacle{taken.refusal(), keys};
  held.emplace(std::move(taken->leases_.front()));
  taken->leases_.clear();
  return std::nullopt;
}

std::optional<row_state> lock_table::look(const lock_key& key) { return look_all({key}).front(); }

std::vector<std::optional<row_state>> lock_table::look_all(const std::vector<lock_key>& keys) {
  const auto stored = in_scope(keys);
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (here) return keeper_->target().read(stored);
  throw error{errc::unavailable, "the lock_table is being destroyed: ask another one"};
}

outcome<std::optional<row_state>> lock_table::try_look(const lock_key& key) {
  const auto stored = in_scope(key);
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = stored};
  return keeper_->target().read(std::array{stored}).front();
}

outcome<version> lock_table::read(const lock_key& key) {
  const auto stored = in_scope(key);
  keeper_->home().require();
  const auto here = keeper_->begin_operation();
  if (!here) return refusal{.reason = refusal_reason::stopped, .key = stored};
  const auto state = prepare(*keeper_, stored);
  if (!state) return refusal{.reason = refusal_reason::busy, .key = stored};
  if (!state->owned && !state->is_live()) return state->version;
  return refusal{.reason = state->is_live() ? refusal_reason::held : refusal_reason::busy,
                 .key = stored,
                 .holder = state->holder,
                 .remaining = state->remaining,
                 .current = state->version};
}

}  // namespace rowlock
