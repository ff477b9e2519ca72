// Which keys are allowed.
#include "rowlock/lock_key.hpp"

#include <algorithm>
#include <ostream>

#include "core/utf8.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

namespace {

constexpr std::size_t longest_type = 64;
constexpr std::size_t longest_source_id = 255;

bool is_allowed_in_type(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == ':' || c == '-';
}

void check_length(const std::string& part, const char* name, std::size_t longest) {
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

}  // namespace

void check(const lock_key& key) {
  check_length(key.type, "lock type", longest_type);
  check_length(key.source_id, "source id", longest_source_id);
  if (!std::all_of(key.type.begin(), key.type.end(), is_allowed_in_type)) {
    throw error{errc::misuse,
                "lock type has a character outside A-Z a-z 0-9 _ . : -: use only those"};
  }
  if (key.source_id.find('\0') != std::string::npos) {
    throw error{errc::misuse, "source id has a NUL byte: databases cannot store it, encode the id"};
  }
  if (!detail::is_valid_utf8(key.source_id)) {
    throw error{errc::misuse,
                "source id is not valid UTF-8: encode binary ids, as hex for instance"};
  }
}

std::ostream& operator<<(std::ostream& out, const lock_key& shown) {
  return out << shown.type << '/' << shown.source_id;
}

}  // namespace rowlock
