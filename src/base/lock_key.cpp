// Which keys are allowed.
#include "rowlock/lock_key.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "base/utf8.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

namespace {

constexpr std::size_t longest_type = 64;
constexpr std::size_t longest_scope = 64;
constexpr std::size_t most_digits = 4;
constexpr std::size_t longest_source_id = 255;

bool is_allowed_in_type(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == ':' || c == '-';
}

void check_length(std::string_view part, const char* name, std::size_t longest) {
  if (part.empty()) {
    throw error{errc::misuse, std::string{name} + " is empty: give it 1 to " +
                                  std::to_string(longest) + " bytes"};
  }
  if (part.size() > longest) {
    throw error{errc::misuse, std::string{name} + " has " + std::to_string(part.size()) +
                                  " bytes, more than " + std::to_string(longest) +
                                  ": shorten it, or use a hash of it"};
  }
}

void check_word(std::string_view part, const char* name, std::size_t longest) {
  check_length(part, name, longest);
  if (!std::all_of(part.begin(), part.end(), is_allowed_in_type)) {
    throw error{errc::misuse,
                std::string{name} + " has a character outside A-Z a-z 0-9 _ . : -: use only those"};
  }
}

/// Without the number that a row has which is one of several of its key.
std::string_view without_number(std::string_view type) {
  const auto mark = type.find('#');
  if (mark == std::string_view::npos) return type;
  const auto digits = type.substr(mark + 1);
  const bool is_number = !digits.empty() && digits.size() <= most_digits &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? type.substr(0, mark) : type;
}

}  // namespace

void check(const lock_key& key) {
  std::string_view type = key.type;
  if (const auto slash = type.find('/'); slash != std::string_view::npos) {
    check_word(type.substr(0, slash), "scope", longest_scope);
    type.remove_prefix(slash + 1);
  }
  check_word(without_number(type), "lock type", longest_type);
  check_length(key.source_id, "source id", longest_source_id);
  if (key.source_id.find('\0') != std::string::npos) {
    throw error{errc::misuse, "source id has a NUL byte: databases cannot store it, encode the id"};
  }
  if (!detail::is_valid_utf8(key.source_id)) {
    throw error{errc::misuse,
                "source id is not valid UTF-8: encode binary ids, as hex for instance"};
  }
}

lock_key scoped(std::string_view scope, const lock_key& key) {
  if (key.type.find('/') != std::string::npos) {
    throw error{errc::misuse, "the key has a scope already: give it one only"};
  }
  lock_key within{.type = std::string{scope} + '/' + key.type, .source_id = key.source_id};
  check(within);
  return within;
}

std::ostream& operator<<(std::ostream& out, const lock_key& shown) {
  return out << shown.type << '/' << shown.source_id;
}

}  // namespace rowlock
