// Removal of passwords from messages.
#include "cli/password_mask.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

constexpr std::string_view mask = "***";
constexpr std::string_view blanks = " \t\n";

std::string decoded(std::string_view text) {
  try {
    return detail::percent_decoded(text);
  } catch (const error&) {
    return std::string{text};
  }
}

void replace_all(std::string& text, const std::string& hidden, const std::string& shown) {
  for (auto at = text.find(hidden); at != std::string::npos;
       at = text.find(hidden, at + shown.size())) {
    text.replace(at, hidden.size(), shown);
  }
}

/// The value at the beginning of `text`, in quotes or up to a blank, without the backslashes that
/// escape characters.
std::string unquoted(std::string_view text) {
  const char quote = text.starts_with('\'') || text.starts_with('"') ? text.front() : '\0';
  if (quote != '\0') text.remove_prefix(1);
  std::string value;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      value += text[++at];
      continue;
    }
    if (quote != '\0' ? text[at] == quote : blanks.find(text[at]) != std::string_view::npos) break;
    value += text[at];
  }
  return value;
}

}  // namespace

void password_mask::learn(std::string_view password) {
  if (password.empty() || password == mask) return;
  if (std::find(passwords_.begin(), passwords_.end(), password) != passwords_.end()) return;
  passwords_.emplace_back(password);
  std::stable_sort(passwords_.begin(), passwords_.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

void password_mask::learn_url(std::string_view url) {
  const auto learn_both = [this](std::string_view spelled) {
    learn(spelled);
    learn(decoded(spelled));
  };
  // scheme://user:password@host. Up to the first @ and up to the last one: an @ in a password
  // should be written %40, but may not be.
  if (const auto authority = url.find("://"); authority != std::string_view::npos) {
    const auto rest = url.substr(authority + 3);
    const auto colon = rest.find(':');
    for (const auto at : {rest.find('@'), rest.rfind('@')}) {
      if (at == std::string_view::npos || colon >= at) continue;
      learn_both(rest.substr(colon + 1, at - colon - 1));
    }
  }
  for (const std::string_view keyword : {"password", "passwd", "pass"}) {
    for (auto at = url.find(keyword); at != std::string_view::npos;
         at = url.find(keyword, at + 1)) {
      const auto equals = url.find_first_not_of(blanks, at + keyword.size());
      if (equals == std::string_view::npos || url[equals] != '=') continue;
      auto value = url.substr(equals + 1);
      value.remove_prefix(std::min(value.find_first_not_of(blanks), value.size()));
      // As libpq and SOCI read keywords, and as they appear in the query of a URL.
      learn_both(unquoted(value));
      learn_both(value.substr(0, value.find_first_of(blanks)));
      learn_both(value.substr(0, value.find_first_of(" \t\n&")));
    }
  }
}

std::string password_mask::apply(std::string text) const {
  for (const auto& password : passwords_) {
    if (password.size() >= long_enough) {
      replace_all(text, password, std::string{mask});
      continue;
    }
    for (const char* const place : {":{}@", "password='{}'", "password={}"}) {
      replace_all(text, fmt::format(fmt::runtime(place), password),
                  fmt::format(fmt::runtime(place), mask));
    }
  }
  return text;
}

}  // namespace rowlock::cli
