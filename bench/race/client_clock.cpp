// Times as clients write them that trust their own clock.
#include "race/client_clock.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace rowlock::race {

std::string utc_text(std::chrono::system_clock::time_point when) {
  using namespace std::chrono;
  const auto seconds = floor<std::chrono::seconds>(when);
  const std::time_t whole = system_clock::to_time_t(seconds);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  const auto rest = duration_cast<microseconds>(when - seconds).count();
  std::snprintf(text.data() + length, text.size() - length, ".%06d", static_cast<int>(rest));
  return text.data();
}

}  // namespace rowlock::race
