// Points in time of the database's clock.
#include "cli/database_time.hpp"

#include <algorithm>
#include <chrono>

#include "base/database_time.hpp"
#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "cli/values.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

/// Whether `text` has a digit for each 0 of `form`, one of "Tt " for each blank, and otherwise the
/// characters of `form`.
bool has_form(std::string_view text, std::string_view form) {
  return std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char c, char wanted) {
    if (wanted == '0') return c >= '0' && c <= '9';
    return wanted == ' ' ? c == ' ' || c == 'T' || c == 't' : c == wanted;
  });
}

}  // namespace

std::optional<database_time> parse_database_time(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view form = "0000-00-00 00:00:00.000000";
  constexpr std::size_t whole_seconds = 19;
  if (text.size() > whole_seconds && (text.back() == 'Z' || text.back() == 'z')) {
    text.remove_suffix(1);
  }
  // A point is followed by a digit or more.
  if (text.size() < whole_seconds || text.size() == whole_seconds + 1) return {};
  if (!has_form(text, form.substr(0, text.size()))) return {};
  const auto number = [&](std::size_t at, std::size_t digits) {
    return *whole_number<int>(text.substr(at, digits));
  };
  const year_month_day date{year{number(0, 4)}, month(static_cast<unsigned>(number(5, 2))),
                            day(static_cast<unsigned>(number(8, 2)))};
  const hours hour{number(11, 2)};
  const minutes minute{number(14, 2)};
  const seconds second{number(17, 2)};
  if (!date.ok() || hour > 23h || minute > 59min || second > 59s) return {};
  std::string fraction{text.substr(std::min(whole_seconds + 1, text.size()))};
  fraction.resize(6, '0');
  return sys_days{date} + hour + minute + second + microseconds{*whole_number<int>(fraction)};
}

database_time parse_moment(std::string_view option, const std::string& text, database_time now) {
  if (text == "now") return now;
  if (const auto time = parse_database_time(text)) return *time;
  try {
    return now - parse_duration(option, text);
  } catch (const error&) {
    throw misuse(
        "{} {} is no time: write 30m or 7d (365d at most), which is so long ago, or a time in UTC "
        "like 2026-01-31T12:00:00Z",
        option, printable(text));
  }
}

std::string to_rfc3339(database_time shown) {
  std::string text = detail::text_of(shown) + 'Z';
  *std::find(text.begin(), text.end(), ' ') = 'T';
  return text;
}

}  // namespace rowlock::cli
