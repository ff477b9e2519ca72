// The rows of one name, and the one that says how many they are.
#include "rowlock/numbered_rows.hpp"

#include <utility>

#include "core/polling.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::detail {

namespace {

constexpr std::size_t most = 1000;
/// Below the hour under which no row is purged.
constexpr std::chrono::minutes agreed_for{10};
constexpr std::chrono::seconds patience{5};

refusal busy_at(const lock_key& key) { return {.reason = refusal_reason::busy, .key = key}; }

}  // namespace

numbered_rows::numbered_rows(lock_key name, std::size_t number, std::string what)
    : name_{std::move(name)}, number_{number}, what_{std::move(what)} {
  if (number_ == 0 || number_ > most) {
    throw error{errc::misuse, std::to_string(number_) + ' ' + what_ + ": make it 1 to 1,000"};
  }
  check(gate());
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

bool numbered_rows::is_agreed(const std::string& told) const {
  if (told.empty()) return false;
  if (told == note()) return true;
  throw error{errc::misuse, "the table says " + told + " where " + note() +
                                " are asked for: all who use the name have to agree"};
}

void numbered_rows::agree(lock_table& locks) {
  auto& leases = *locks.keeper_;
  if (leases.now() < agreed_until_.load()) return;
  for (polling pauses{leases, wait_for(patience)};;) {
    auto held = locks.try_acquire(gate());
    const auto seen = locks.look(gate());
    if (seen && is_agreed(seen->note)) break;
    if (held.acquired() && held->write_note(note()) == note_result::written) break;
    if (pauses.pause(held.acquired() ? busy_at(gate()) : held.refusal())) {
      throw error{errc::unavailable,
                  "nobody has written for five seconds how many " + what_ +
                      " there are, and the row that says so is taken: try again"};
    }
  }
  agreed_until_ = leases.now() + agreed_for;
}

void numbered_rows::impose(lock_table& locks) {
  const auto held = locks.try_acquire(gate(), {.wait = wait_for(patience)});
  if (held.acquired() && held->write_note(note()) == note_result::written) return;
  throw error{errc::unavailable, "the row that says how many " + what_ +
                                     " there are was taken for five seconds: try again"};
}

}  // namespace rowlock::detail
