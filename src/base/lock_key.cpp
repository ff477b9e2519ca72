// Keys, sets of keys, scopes and versions: checks and order.
#include "rowlock/lock_key.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
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
    throw error{
        errc::misuse,
        std::string{name} +
            " has a character outside A-Z a-z 0-9 _ . : -: use only those; before a type may "
            "stand one scope and '/', behind it '#' and 1 to 4 digits"};
  }
}

/// The type without the number of a numbered row (`type#1`).
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

namespace {

constexpr char between_parts = '/';

void append_escaped(std::string& joined, std::string_view part) {
  for (const char c : part) {
    switch (c) {
      case '%':
        joined += "%25";
        break;
      case between_parts:
        joined += "%2F";
        break;
      case '\0':
        joined += "%00";
        break;
      default:
        joined += c;
    }
  }
}

std::string joined(const auto& parts) {
  if (std::empty(parts)) {
    throw error{errc::misuse, "no part to make a source id of: name at least one"};
  }
  std::string text;
  bool is_first = true;
  for (const std::string_view part : parts) {
    if (!is_first) text += between_parts;
    is_first = false;
    append_escaped(text, part);
  }
  return text;
}

/// The byte of an escape sequence.
char unescaped(std::string_view sequence) {
  if (sequence == "%25") return '%';
  if (sequence == "%2F") return between_parts;
  if (sequence == "%00") return '\0';
  throw error{
      errc::misuse,
      "the source id was not made by source_id_of: % is followed by something else than 25, "
      "2F or 00"};
}

}  // namespace

std::string source_id_of(std::initializer_list<std::string_view> parts) { return joined(parts); }

std::string source_id_of(std::span<const std::string> parts) { return joined(parts); }

std::vector<std::string> parts_of(std::string_view source_id) {
  std::vector<std::string> parts(1);
  while (!source_id.empty()) {
    std::size_t used = 1;
    if (source_id.front() == between_parts) {
      parts.emplace_back();
    } else if (source_id.front() == '%') {
      used = std::min<std::size_t>(3, source_id.size());
      parts.back() += unescaped(source_id.substr(0, used));
    } else {
      parts.back() += source_id.front();
    }
    source_id.remove_prefix(used);
  }
  return parts;
}

std::ostream& operator<<(std::ostream& out, const lock_key& shown) {
  return out << shown.type << '/' << shown.source_id;
}

lock_keys::lock_keys(lock_key key) : lock_keys{std::vector{std::move(key)}} {}

lock_keys::lock_keys(std::initializer_list<lock_key> keys) : lock_keys{std::vector(keys)} {}

lock_keys::lock_keys(std::vector<lock_key> keys) : keys_{std::move(keys)} {
  if (keys_.empty()) throw error{errc::misuse, "no key to lock: name at least one"};
  for (const lock_key& key : keys_) check(key);
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  if (keys_.size() > most) {
    throw error{errc::misuse, std::to_string(keys_.size()) + " keys at once, more than " +
                                  std::to_string(most) + ": lock something coarser"};
  }
}

std::ostream& operator<<(std::ostream& out, const version& shown) { return out << shown.number; }

}  // namespace rowlock

namespace rowlock::detail {

namespace {

/// Length of a sequence, and the smallest code point that it may encode.
struct sequence {
  std::size_t length;
  std::uint32_t smallest;
  std::uint32_t bits;
};

sequence sequence_of(unsigned char lead) noexcept {
  if (lead < 0x80) return {1, 0, lead};
  if ((lead & 0xE0U) == 0xC0) return {2, 0x80, lead & 0x1FU};
  if ((lead & 0xF0U) == 0xE0) return {3, 0x800, lead & 0x0FU};
  if ((lead & 0xF8U) == 0xF0) return {4, 0x10000, lead & 0x07U};
  return {0, 0, 0};
}

}  // namespace

bool is_valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto [length, smallest, lead_bits] = sequence_of(static_cast<unsigned char>(text[0]));
    if (length == 0 || length > text.size()) return false;
    std::uint32_t code_point = lead_bits;
    for (const char raw : text.substr(1, length - 1)) {
      const auto byte = static_cast<unsigned char>(raw);
      if ((byte & 0xC0U) != 0x80) return false;
      code_point = (code_point << 6U) | (byte & 0x3FU);
    }
    const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    if (code_point < smallest || is_surrogate || code_point > 0x10FFFF) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace rowlock::detail
