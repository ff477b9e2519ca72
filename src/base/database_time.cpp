// Points in time of a database's clock, as text.
#include "base/database_time.hpp"

#include <array>
#include <cstdio>

namespace rowlock::detail {

std::string text_of(database_time shown) {
  using namespace std::chrono;
  const auto midnight = floor<days>(shown);
  const year_month_day date{midnight};
  const hh_mm_ss time{shown - midnight};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d.%06d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<int>(time.subseconds().count()));
  return text.data();
}

}  // namespace rowlock::detail
