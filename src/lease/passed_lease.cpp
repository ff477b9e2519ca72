// The text with which a lease passes to another process.
#include "lease/passed_lease.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "base/text.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

constexpr std::string_view first_part = "rl1";
constexpr std::size_t number_of_parts = 5;
constexpr std::size_t owner_length = 32;

[[noreturn]] void refuse() {
  throw error{
      errc::misuse,
      "this is not the whole text of a lease that was passed on: give it unchanged, from rl1. "
      "to its last digit"};
}

std::array<std::string_view, number_of_parts> split(std::string_view text) {
  std::array<std::string_view, number_of_parts> found;
  for (auto& part : found) {
    const auto end = std::min(text.find('.'), text.size());
    part = text.substr(0, end);
    const bool is_last = &part == &found.back();
    if (is_last != (end == text.size())) refuse();
    if (!is_last) text.remove_prefix(end + 1);
  }
  return found;
}

std::string decoded(std::string_view part) {
  try {
    return percent_decoded(part);
  } catch (const error&) {
    refuse();
  }
}

std::int64_t to_token(std::string_view digits) {
  std::int64_t token = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, fault] = std::from_chars(digits.data(), end, token);
  if (fault != std::errc{} || stopped != end || token <= 0) refuse();
  return token;
}

bool is_owner(std::string_view text) {
  return text.size() == owner_length && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::string to_text(const passed_lease& passed) {
  return std::string{first_part} + '.' + percent_encoded(passed.key.type) + '.' +
         percent_encoded(passed.key.source_id) + '.' + std::to_string(passed.token.number) + '.' +
         passed.owner.text;
}

passed_lease to_passed_lease(std::string_view text) {
  const auto [start, type, source_id, token, owner] = split(text);
  if (start != first_part || !is_owner(owner)) refuse();
  passed_lease passed{.key = {.type = decoded(type), .source_id = decoded(source_id)},
                      .owner = {std::string{owner}},
                      .token = {to_token(token)}};
  check(passed.key);
  return passed;
}

}  // namespace rowlock::detail

namespace rowlock {

lock_key key_of_passed(std::string_view passed_on) {
  return detail::to_passed_lease(passed_on).key;
}

}  // namespace rowlock
