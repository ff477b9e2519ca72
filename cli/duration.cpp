// Parsing and formatting of durations.
#include "cli/duration.hpp"

#include <array>
#include <charconv>

#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_duration = std::chrono::hours{24 * 365};

struct unit {
  std::string_view name;
  milliseconds length;
};
constexpr std::array units{
    unit{"ms", milliseconds{1}},        unit{"s", std::chrono::seconds{1}},
    unit{"m", std::chrono::minutes{1}}, unit{"h", std::chrono::hours{1}},
    unit{"d", std::chrono::hours{24}},
};

}  // namespace

milliseconds parse_duration(std::string_view option, std::string_view text,
                            const std::string& or_else) {
  // Text that does not look like a duration may be anything, including a URL with a password.
  constexpr std::size_t longest_shown = 24;
  constexpr std::string_view digits = "0123456789";
  const bool is_negative = text.starts_with('-') && text.find_first_of(digits) == 1;
  const bool is_shown =
      text.size() <= longest_shown && (is_negative || text.find_first_of(digits) == 0);
  const std::string given = is_shown ? fmt::format("{} '{}'", option, text) : std::string{option};
  const auto no_duration = [&] {
    return misuse(
        "{} is not a duration: write a whole number and a unit, such as 500ms, 30s, 5m, 2h or 1d{}",
        given, or_else);
  };

  if (is_negative) throw misuse("{} is negative: a duration is zero or more", given);
  milliseconds::rep number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure == std::errc::result_out_of_range) throw misuse("{} is longer than 365d", given);
  if (failure != std::errc{}) throw no_duration();
  const std::string_view name{rest, static_cast<std::size_t>(end - rest)};
  if (name.empty()) {
    throw misuse("{} has no unit: write {}s for seconds, or m, h, d", given, text);
  }
  for (const unit& known : units) {
    if (name != known.name) continue;
    if (number > longest_duration / known.length) throw misuse("{} is longer than 365d", given);
    return number * known.length;
  }
  throw no_duration();
}

std::string show_duration(std::chrono::microseconds shown) {
  const auto* const sign = shown < std::chrono::microseconds::zero() ? "-" : "";
  const auto size = std::chrono::abs(shown);
  const auto tenths = size / milliseconds{100};
  const auto minutes = size / std::chrono::minutes{1};
  const auto hours = size / std::chrono::hours{1};
  if (minutes == 0) return fmt::format("{}{}.{}s", sign, tenths / 10, tenths % 10);
  if (hours == 0) return fmt::format("{}{}m {}s", sign, minutes, tenths / 10 % 60);
  return fmt::format("{}{}h {}m", sign, hours, minutes % 60);
}

}  // namespace rowlock::cli
