// Reader of the command tree.
#include "cli/manual/option_text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <sstream>

namespace rowlock::cli {

namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back('-' + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// In an order that does not depend on addresses.
std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const auto* each : options) names.push_back(names_of(*each).back());
  std::sort(names.begin(), names.end());
  return names;
}

/// Of `{a,b}`, as CLI11's check for a few words describes them.
std::vector<std::string> words_in(const std::string& check) {
  if (!check.starts_with('{') || !check.ends_with('}')) return {};
  std::vector<std::string> words;
  std::istringstream list{check.substr(1, check.size() - 2)};
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  return words;
}

option_text text_of(const CLI::Option& option) {
  option_text text{
      .names = names_of(option),
      .description = option.get_description(),
      .value = {},
      .words = {},
      .default_value = option.get_default_str(),
      .needs = names_of(option.get_needs()),
      .excludes = names_of(option.get_excludes()),
      .has_place = option.get_positional(),
      .is_required = option.get_required(),
      .is_repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size};
  if (option.get_type_size() == 0) return text;
  const std::string type = option.get_type_name();
  const auto end = std::min(type.find(":{"), type.size());
  text.value = text.has_place ? text.names.front() : type.substr(0, end);
  if (end < type.size()) text.words = words_in(type.substr(end + 1));
  return text;
}

}  // namespace

std::vector<option_text> options_of(const CLI::App& subcommand) {
  std::vector<option_text> texts;
  for (const auto* option : subcommand.get_options()) {
    if (!option->get_group().empty()) texts.push_back(text_of(*option));
  }
  std::stable_partition(texts.begin(), texts.end(),
                        [](const option_text& text) { return text.has_place; });
  return texts;
}

std::string usage_of(const CLI::App& subcommand) {
  const std::string mark = "Usage: ";
  const bool has_parent = subcommand.get_parent() != nullptr;
  const std::string help = subcommand.help(has_parent ? subcommand.get_parent()->get_name() : "");
  const auto begin = help.find(mark) + mark.size();
  return help.substr(begin, help.find('\n', begin) - begin);
}

}  // namespace rowlock::cli
