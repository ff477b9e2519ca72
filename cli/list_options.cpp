// Options that choose rows and their order.
#include "cli/list_options.hpp"

#include <unistd.h>

#include <cstdlib>

#include "cli/choice.hpp"

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

void list_options::add_to(CLI::App& subcommand) {
  subcommand.add_option("--type", type, "Only keys of this type")->type_name("TYPE");
  subcommand.add_option("--holder", holder, "Only keys of this holder, by its whole label")
      ->type_name("LABEL");
  subcommand.add_option("--state", state, "Only keys in this state")
      ->type_name(type_name_of("STATE", states))
      ->capture_default_str();
  subcommand
      .add_option("--sort", sort,
                  "By age: the longest held first; by left: the least time left first")
      ->type_name(type_name_of("ORDER", orders))
      ->capture_default_str();
  subcommand
      .add_option("--color", color, "auto: on a terminal, unless the variable NO_COLOR is set")
      ->type_name(type_name_of("WHEN", color_uses))
      ->capture_default_str();
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

}  // namespace rowlock::cli
