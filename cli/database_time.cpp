// Points in time of the database's clock.
#include "cli/database_time.hpp"

#include <algorithm>
#include <chrono>

#include "base/database_time.hpp"
#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

/// Takes `digits` digits from the front of `text`; none if there are fewer.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return {};
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return {};
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// The digits after the second, with their point; zero without them.
std::optional<std::chrono::microseconds> take_fraction(std::string_view& text) {
  if (!take(text, ".")) return std::chrono::microseconds{0};
  int value = 0;
  int digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; ++digits) {
    if (digits == 6) return {};
    value = value * 10 + *take_number(text, 1);
  }
  if (digits == 0) return {};
  for (; digits < 6; ++digits) value *= 10;
  return std::chrono::microseconds{value};
}

}  // namespace

std::optional<database_time> parse_database_time(std::string_view text) {
  using namespace std::chrono;
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) return {};
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) return {};
  const auto day = take_number(text, 2);
  if (!day || !take(text, " Tt")) return {};
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ":")) return {};
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ":")) return {};
  const auto second = take_number(text, 2);
  if (!second) return {};
  const auto fraction = take_fraction(text);
  if (!fraction) return {};
  take(text, "Zz");
  const year_month_day date{std::chrono::year{*year}, std::chrono::month{unsigned(*month)},
                            std::chrono::day{unsigned(*day)}};
  if (!text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 59) return {};
  return sys_days{date} + hours{*hour} + minutes{*minute} + seconds{*second} + *fraction;
}

database_time parse_moment(std::string_view option, const std::string& text, database_time now) {
  if (text == "now") return now;
  if (const auto time = parse_database_time(text)) return *time;
  try {
    return now - parse_duration(option, text);
  } catch (const error&) {
    throw error{errc::misuse, std::string{option} + " " + printable(text) +
                                  " is no time: write 30m or 7d (365d at most), which is so long "
                                  "ago, or a time in UTC like 2026-01-31T12:00:00Z"};
  }
}

std::string to_rfc3339(database_time shown) {
  std::string text = detail::text_of(shown) + 'Z';
  *std::find(text.begin(), text.end(), ' ') = 'T';
  return text;
}

}  // namespace rowlock::cli
