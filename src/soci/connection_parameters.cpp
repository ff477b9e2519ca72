// The parameters of a connection string, as SOCI reads them.
#include "soci/connection_parameters.hpp"

namespace rowlock::through_soci {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

void skip_blanks(std::string_view text, std::size_t& at) {
  while (at < text.size() && is_blank(text[at])) ++at;
}

/// Returns the value that begins at `at`, and moves `at` past it.
std::string take_value(std::string_view text, std::size_t& at) {
  const bool is_quoted = at < text.size() && text[at] == '\'';
  if (is_quoted) ++at;
  std::string value;
  for (; at < text.size(); ++at) {
    if (is_quoted ? text[at] == '\'' : is_blank(text[at])) break;
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    value += text[at];
  }
  if (is_quoted) ++at;
  return value;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> connection_parameters::all() const {
  std::vector<std::pair<std::string, std::string>> found;
  std::size_t at = 0;
  while (at < text_.size()) {
    skip_blanks(text_, at);
    const auto end = text_.find('=', at);
    if (end == std::string::npos) break;
    auto last = end;
    while (last > at && is_blank(text_[last - 1])) --last;
    auto name = text_.substr(at, last - at);
    at = end + 1;
    skip_blanks(text_, at);
    found.emplace_back(std::move(name), take_value(text_, at));
  }
  return found;
}

std::optional<std::string> connection_parameters::value_of(std::string_view name) const {
  for (auto& [known, value] : all()) {
    if (known == name) return value;
  }
  return {};
}

void connection_parameters::add_unless_named(std::string_view name, std::string_view value) {
  if (value_of(name)) return;
  text_ += ' ';
  text_ += name;
  text_ += '=';
  text_ += value;
}

}  // namespace rowlock::through_soci
