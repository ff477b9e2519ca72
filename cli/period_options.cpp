// The period of the history that a command reads.
#include "cli/period_options.hpp"

#include <algorithm>
#include <chrono>

#include "cli/database_time.hpp"

namespace rowlock::cli {

void period_options::add_to(CLI::App& subcommand) {
  subcommand
      .add_option("--since", since,
                  "Not older: a time, or so long ago; 24h before --until if not given")
      ->type_name("TIME");
  subcommand.add_option("--until", until, "Not younger: a time, or so long ago")
      ->type_name("TIME")
      ->capture_default_str();
}

history_request period_options::unchecked(history_request request, database_time now) const {
  if (until != "now") request.until = parse_moment("--until", until, now);
  request.since =
      since ? parse_moment("--since", *since, now)
            : std::max(database_time{}, request.until.value_or(now) - std::chrono::hours{24});
  return request;
}

history_request period_options::of(history_request request, database_time now) const {
  request = unchecked(std::move(request), now);
  check(request);
  return request;
}

void period_options::check_any_time(const history_request& request) const {
  constexpr database_time some_time{std::chrono::sys_days{std::chrono::year{9999} / 1 / 1}};
  auto ends = unchecked(request, some_time);
  // Which of a time and a duration comes first only the database's time says.
  const bool is_mixed =
      since && parse_database_time(*since).has_value() != parse_database_time(until).has_value();
  if (is_mixed) {
    auto begin = ends;
    begin.until.reset();
    check(begin);
    ends.since.reset();
  }
  check(ends);
}

}  // namespace rowlock::cli
