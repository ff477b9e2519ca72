// Numbered rows of one name, and the record of their number.
#include "sync/numbered_rows.hpp"

#include <utility>

#include "base/pause.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

constexpr std::size_t most = 1000;
/// Less than the hour within which no row is purged.
constexpr std::chrono::minutes agreed_for{10};

}  // namespace

numbered_rows::numbered_rows(lock_key name, std::size_t number, std::string what)
    : name_{std::move(name)}, number_{number}, what_{std::move(what)} {
  if (number_ == 0 || number_ > most) {
    throw error{errc::misuse, std::to_string(number_) + ' ' + what_ + ": make it 1 to 1,000"};
  }
  check(record());
}

lock_key numbered_rows::numbered(std::size_t number) const {
  return {.type = name_.type + '#' + std::to_string(number), .source_id = name_.source_id};
}

std::vector<lock_key> numbered_rows::slots() {
  const auto first = next_++;
  std::vector<lock_key> all;
  all.reserve(number_);
  for (std::size_t i = 0; i < number_; ++i) all.push_back(numbered(1 + (first + i) % number_));
  return all;
}

std::string numbered_rows::note() const { return std::to_string(number_) + ' ' + what_; }

bool numbered_rows::is_agreed(const std::string& found) const {
  if (found.empty()) return false;
  if (found == note()) return true;
  throw error{errc::misuse, "the table says " + found + " where " + note() +
                                " are asked for: all who use the name have to agree"};
}

outcome<lease> numbered_rows::take_record(lock_table& locks, const retry_policy& wait) const {
  // A process that dies here must not block the others for longer than its lease.
  const acquire_options options{.wait = wait, .lock_delay = std::chrono::milliseconds{0}};
  std::optional<outcome<lease>> taken;
  try_for_a_moment(locks.keeper_->time(), locks.keeper_->closing(), [&] {
    taken.emplace(locks.try_acquire(record(), options));
    return taken->acquired() || taken->refusal().reason != refusal_reason::busy;
  });
  return *std::move(taken);
}

std::optional<refusal> numbered_rows::write(lock_table& locks, lease& held) const {
  if (held.write_note(note()) == note_result::written) return std::nullopt;
  return refusal{.reason = refusal_reason::busy, .key = locks.in_scope(record())};
}

std::optional<refusal> numbered_rows::agree(lock_table& locks, set_attempt& attempt) {
  auto refused = attempt.go_on([&]() -> std::optional<obstacle> {
    auto why = agree_once(locks);
    if (!why) return std::nullopt;
    return obstacle{*std::move(why), {locks.in_scope(record())}};
  });
  if (!refused) attempt.forget_doubt();  // the doubt was about the record
  return refused;
}

std::optional<refusal> numbered_rows::agree_once(lock_table& locks) {
  const auto began = locks.keeper_->now();
  if (began < agreed_until_.load()) return std::nullopt;
  auto taken = take_record(locks, no_wait());
  if (!taken.acquired() && taken.refusal().reason != refusal_reason::held) return taken.refusal();
  const auto seen = locks.try_look(record());
  if (!seen.acquired()) return seen.refusal();
  if (!(*seen && is_agreed((*seen)->note))) {
    if (!taken.acquired()) return taken.refusal();
    if (auto refused = write(locks, *taken)) return refused;
  }
  agreed_until_ = began + agreed_for;
  return std::nullopt;
}

outcome<void> numbered_rows::impose(lock_table& locks, const retry_policy& wait) {
  auto taken = take_record(locks, wait);
  if (!taken.acquired()) return taken.refusal();
  if (auto refused = write(locks, *taken)) return *std::move(refused);
  return outcome<void>{true};
}

}  // namespace rowlock::detail
