// Numbered rows of one name, and the record of their number.
#include "sync/numbered_rows.hpp"

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/pause.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

constexpr std::size_t most = 1000;
/// Less than the hour within which no row is purged.
constexpr std::chrono::minutes agreed_for{10};
/// How long a user may still go by the number before the imposed one.
constexpr std::chrono::seconds read_for{10};
/// Ends the note of an imposed number.
constexpr std::string_view imposed = ", set";

/// None if the text does not begin with a number that rows can have.
std::optional<std::size_t> number_in(std::string_view note) {
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(note.data(), note.data() + note.size(), number);
  if (fault != std::errc{} || number == 0 || number > most) return std::nullopt;
  return number;
}

}  // namespace

numbered_rows::numbered_rows(lock_key name, std::size_t number, std::string what, numbering kind)
    : name_{std::move(name)},
      wanted_{number},
      what_{std::move(what)},
      kind_{kind},
      number_{number} {
  if (wanted_ == 0 || wanted_ > most) {
    throw error{errc::misuse, std::to_string(wanted_) + ' ' + what_ + ": make it 1 to 1,000"};
  }
  check(record());
}

lock_key numbered_rows::numbered(std::size_t number) const {
  return {.type = name_.type + '#' + std::to_string(number), .source_id = name_.source_id};
}

std::vector<lock_key> numbered_rows::slots() {
  const auto first = next_++;
  const std::size_t number = number_;
  std::vector<lock_key> all;
  all.reserve(number);
  for (std::size_t i = 0; i < number; ++i) all.push_back(numbered(1 + (first + i) % number));
  return all;
}

std::vector<lock_key> numbered_rows::every_slot() const {
  std::vector<lock_key> all;
  all.reserve(most);
  for (std::size_t number = 1; number <= most; ++number) all.push_back(numbered(number));
  return all;
}

std::string numbered_rows::note() const { return std::to_string(wanted_) + ' ' + what_; }

bool numbered_rows::is_agreed(const std::string& found) {
  if (found.empty()) return false;
  if (kind_ == numbering::changeable && found.ends_with(imposed)) {
    if (const auto number = number_in(found)) {
      number_ = *number;
      return true;
    }
  }
  if (found == note()) {
    number_ = wanted_;
    return true;
  }
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

std::optional<refusal> numbered_rows::write(lease& held, const std::string& note) {
  if (held.write_note(note) == note_result::written) return std::nullopt;
  return refusal{.reason = refusal_reason::busy, .key = held.key()};
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
  if (is_fresh(began)) return std::nullopt;
  if (began < agreed_until_.load()) {
    const auto seen = locks.try_look(record());
    if (!seen.acquired()) return seen.refusal();
    if (*seen && is_agreed((*seen)->note)) {
      read_until_ = began + read_for;
      return std::nullopt;
    }
  }
  auto taken = take_record(locks, no_wait());
  if (!taken.acquired() && taken.refusal().reason != refusal_reason::held) return taken.refusal();
  const auto seen = locks.try_look(record());
  if (!seen.acquired()) return seen.refusal();
  if (!(*seen && is_agreed((*seen)->note))) {
    if (!taken.acquired()) return taken.refusal();
    if (auto refused = write(*taken, note())) return refused;
    number_ = wanted_;
  }
  agreed_until_ = began + agreed_for;
  read_until_ = began + read_for;
  return std::nullopt;
}

outcome<void> numbered_rows::impose(lock_table& locks, const retry_policy& wait) {
  auto taken = take_record(locks, wait);
  if (!taken.acquired()) return taken.refusal();
  if (auto refused = write(*taken, note() + std::string{imposed})) {
    return *std::move(refused);
  }
  return outcome<void>{true};
}

bool numbered_rows::is_fresh(boot_clock::time_point now) const noexcept {
  if (now >= agreed_until_.load()) return false;
  return kind_ == numbering::fixed || now < read_until_.load();
}

void numbered_rows::read_number(lock_table& locks) {
  if (const auto seen = locks.look(record())) static_cast<void>(is_agreed(seen->note));
}

}  // namespace rowlock::detail
