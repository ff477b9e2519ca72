// Options of several subcommands, and what they stand for.
#include "cli/options.hpp"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <system_error>

#include "cli/database_time.hpp"
#include "cli/printable.hpp"
#include "cli/private_file.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

constexpr choices<row_filter, 4> states{{{"any", row_filter::any},
                                         {"held", row_filter::held},
                                         {"run-out", row_filter::run_out},
                                         {"closed", row_filter::closed}}};
constexpr choices<row_order, 3> orders{
    {{"key", row_order::key}, {"age", row_order::age}, {"left", row_order::remaining}}};

enum class color_use { when_useful, always, never };
constexpr choices<color_use, 3> color_uses{
    {{"auto", color_use::when_useful}, {"always", color_use::always}, {"never", color_use::never}}};

template <class Value, std::size_t Size>
std::string word_in(const choices<Value, Size>& known, Value wanted) {
  for (const auto& [word, value] : known) {
    if (value == wanted) return std::string{word};
  }
  return {};
}

}  // namespace

void table_options::add_to(CLI::App& subcommand) {
  CLI::Option* const given =
      subcommand.add_option("URL", url, "sqlite:///path, postgresql://... or mysql://...");
  add_value(subcommand, "--url-file FILE", url_file,
            "The first line of this file is the URL, which only its owner may read")
      ->excludes(given);
  add_value(subcommand, "--table NAME", table, "The lock table: NAME or SCHEMA.NAME");
}

database_url table_options::database() const { return url_as_given(); }

bool table_options::may_change() const {
  std::error_code unknown;
  return url_file && std::filesystem::is_regular_file(*url_file, unknown);
}

std::unique_ptr<store> table_options::open(const database_url& first) const {
  std::function<database_url()> url_now;
  if (may_change()) url_now = [where = *this] { return where.database(); };
  return open_store(first, table_name{table}, url_now);
}

database_url table_options::kind_of_database() const {
  const std::string given = url_as_given();
  return given == "sqlite://" ? "sqlite:///any" : given;
}

std::string table_options::url_as_given() const {
  const char* const of_environment = std::getenv("ROWLOCK_URL");  // NOLINT(concurrency-mt-unsafe)
  std::string given = of_environment == nullptr ? "" : of_environment;
  if (url_file) given = private_line_of("--url-file", *url_file, "URL");
  if (url) given = *url;
  if (given.empty() && !url) {
    throw misuse("no database: give its URL, a file with --url-file, or the variable ROWLOCK_URL");
  }
  hide_passwords_of(given);
  return given;
}

void key_options::add_to(CLI::App& subcommand) {
  const CLI::Validator is_given{
      [](const std::string& value) {
        return value.empty() ? "is empty: write a value, perhaps a variable of your script has none"
                             : "";
      },
      ""};
  add_value(subcommand, "--type TYPE", key.type,
            "What kind of thing is locked; within a scope: SCOPE/TYPE")
      ->check(is_given)
      ->required();
  add_value(subcommand, "--source SOURCE", key.source_id, "Which one of them")
      ->check(is_given)
      ->required();
}

void confirmation::require_terminal() const {
  const bool has_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  if (is_given_ || has_terminal) return;
  throw misuse("there is no terminal to ask on: add --yes if you are sure");
}

bool confirmation::is_given_for(const std::string& question) const {
  if (is_given_) return true;
  std::cerr << printable(question) + " [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return strcasecmp(answer.c_str(), "y") == 0 || strcasecmp(answer.c_str(), "yes") == 0;
}

void list_options::add_to(CLI::App& subcommand) {
  add_value(subcommand, "--type TYPE", type, "Only keys of this type");
  add_value(subcommand, "--holder LABEL", holder, "Only keys of this holder, by its whole label");
  add_value(subcommand, "--state " + type_name_of("STATE", states), state,
            "Only keys in this state");
  add_value(subcommand, "--sort " + type_name_of("ORDER", orders), sort,
            "By age: the longest held first; by left: the least time left first");
  add_value(subcommand, "--color " + type_name_of("WHEN", color_uses), color,
            "auto: on a terminal, unless the variable NO_COLOR is set");
}

list_request list_options::request() const {
  list_request wanted{.type = type,
                      .holder = holder,
                      .state = chosen_of("--state", state, states),
                      .sort = chosen_of("--sort", sort, orders)};
  check(wanted);
  return wanted;
}

bool list_options::has_colors() const {
  switch (chosen_of("--color", color, color_uses)) {
    case color_use::always:
      return true;
    case color_use::never:
      return false;
    case color_use::when_useful:
      break;
  }
  const char* const unwanted = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  return isatty(STDOUT_FILENO) == 1 && (unwanted == nullptr || *unwanted == '\0');
}

std::string word_of(row_order order) { return word_in(orders, order); }
std::string word_of(row_filter state) { return word_in(states, state); }

void period_options::add_to(CLI::App& subcommand) {
  add_value(subcommand, "--since TIME", since,
            "Not older: a time, or so long ago; 24h before --until if not given");
  add_value(subcommand, "--until TIME", until, "Not younger: a time, or so long ago");
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
