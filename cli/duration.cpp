// Parsing and formatting of durations.
#include "cli/duration.hpp"

#include <array>
#include <charconv>

#include "rowlock/error.hpp"

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
  const auto refuse = [&](const std::string& why) {
    const std::string shown = is_shown ? " '" + std::string{text} + "'" : "";
    return error{errc::misuse, std::string{option} + shown + ' ' + why};
  };
  const std::string wanted =
      "is not a duration: write a whole number and a unit, such as 500ms, 30s, 5m, 2h or 1d" +
      or_else;
  const std::string too_long = "is longer than 365d";

  if (is_negative) throw refuse("is negative: a duration is zero or more");
  milliseconds::rep number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure == std::errc::result_out_of_range) throw refuse(too_long);
  if (failure != std::errc{}) throw refuse(wanted);
  const std::string_view name{rest, static_cast<std::size_t>(end - rest)};
  if (name.empty())
    throw refuse("has no unit: write " + std::string{text} + "s for seconds, or m, h, d");
  for (const unit& known : units) {
    if (name != known.name) continue;
    if (number > longest_duration / known.length) throw refuse(too_long);
    return number * known.length;
  }
  throw refuse(wanted);
}

std::string show_duration(std::chrono::microseconds shown) {
  using std::chrono::duration_cast;
  const std::string sign = shown < std::chrono::microseconds::zero() ? "-" : "";
  const auto size = std::chrono::abs(shown);
  if (size < std::chrono::minutes{1}) {
    const auto tenths = duration_cast<milliseconds>(size).count() / 100;
    return sign + std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + 's';
  }
  const auto minutes = duration_cast<std::chrono::minutes>(size);
  if (minutes < std::chrono::hours{1}) {
    const auto seconds = duration_cast<std::chrono::seconds>(size - minutes);
    return sign + std::to_string(minutes.count()) + "m " + std::to_string(seconds.count()) + 's';
  }
  const auto hours = duration_cast<std::chrono::hours>(size);
  return sign + std::to_string(hours.count()) + "h " + std::to_string((minutes - hours).count()) +
         'm';
}

}  // namespace rowlock::cli
