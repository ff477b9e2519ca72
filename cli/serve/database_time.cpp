// Points in time of the database's clock.
#include "cli/serve/database_time.hpp"

#include <array>
#include <cstdio>

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

database_time machine_time() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
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

std::string to_rfc3339(database_time shown) {
  using namespace std::chrono;
  const auto midnight = floor<days>(shown);
  const year_month_day date{midnight};
  const hh_mm_ss time{shown - midnight};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text.data();
}

void database_clock::learn(std::span<const row_state> rows) {
  for (const auto& row : rows) {
    const auto since = parse_database_time(row.acquired_at);
    if (!row.owned || !row.held || !since) continue;
    const std::scoped_lock lock{mutex_};
    ahead_ = *since + *row.held - machine_time();
    return;
  }
}

database_time database_clock::now() const {
  const std::scoped_lock lock{mutex_};
  return machine_time() + ahead_;
}

}  // namespace rowlock::cli
