// The parameters of a connection string, as SOCI reads them.
#include "soci/connection_parameters.hpp"

namespace rowlock::through_soci {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

std::optional<std::string> connection_parameters::value_of(std::string_view name) const {
  std::size_t at = 0;
  while (at < text_.size()) {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    const auto end = text_.find('=', at);
    if (end == std::string::npos) return {};
    auto last = end;
    while (last > at && is_blank(text_[last - 1])) --last;
    const bool is_it = std::string_view{text_}.substr(at, last - at) == name;
    at = end + 1;
    while (at < text_.size() && is_blank(text_[at])) ++at;
    const bool is_quoted = at < text_.size() && text_[at] == '\'';
    if (is_quoted) ++at;
    std::string value;
    for (; at < text_.size(); ++at) {
      if (is_quoted ? text_[at] == '\'' : is_blank(text_[at])) break;
      if (text_[at] == '\\' && at + 1 < text_.size()) ++at;
      value += text_[at];
    }
    if (is_quoted) ++at;
    if (is_it) return value;
  }
  return {};
}

void connection_parameters::add_unless_named(std::string_view name, std::string_view word) {
  if (value_of(name)) return;
  text_ += ' ';
  text_ += name;
  text_ += '=';
  text_ += word;
}

std::string connection_parameter(std::string_view name, std::string_view value) {
  std::string text{name};
  text += "='";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + '\'';
}

}  // namespace rowlock::through_soci
