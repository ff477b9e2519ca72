// Escaping of characters that a terminal might obey.
#include "cli/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.hpp"

namespace rowlock::cli {

namespace {

/// Bytes of the character at the beginning of `text`; 0 if no UTF-8 begins there.
std::size_t first_length(std::string_view text) {
  const std::size_t longest = std::min<std::size_t>(4, text.size());
  for (std::size_t length = 1; length <= longest; ++length) {
    if (detail::is_valid_utf8(text.substr(0, length))) return length;
  }
  return 0;
}

/// The code of one valid character.
char32_t code_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  char32_t code = character.size() == 1 ? lead : lead & (0xFFU >> (character.size() + 1));
  for (const char byte : character.substr(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return code;
}

/// Control characters, invisible ones, and line and paragraph separators. Also those that embed or
/// override the direction of writing, which can make one text look like another.
bool is_dangerous(char32_t code) {
  struct range {
    char32_t first, last;
  };
  static constexpr std::array<range, 8> dangerous{{{0x00, 0x1F},
                                                   {0x7F, 0x9F},
                                                   {0xAD, 0xAD},
                                                   {0x61C, 0x61C},
                                                   {0x200B, 0x200F},
                                                   {0x2028, 0x202E},
                                                   {0x2060, 0x206F},
                                                   {0xFEFF, 0xFEFF}}};
  return std::any_of(dangerous.begin(), dangerous.end(), [code](const range& known) {
    return code >= known.first && code <= known.last;
  });
}

std::string hex(std::uint32_t number, std::size_t least_digits) {
  std::string digits;
  for (; number > 0 || digits.size() < least_digits; number >>= 4U) {
    digits.insert(digits.begin(), "0123456789abcdef"[number & 0xFU]);
  }
  return digits;
}

std::string escaped(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code < 0x80) return "\\x" + hex(code, 2);
  return "\\u{" + hex(code, 2) + '}';
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = first_length(text);
    if (length == 0) {
      shown += "\\x" + hex(static_cast<unsigned char>(text.front()), 2);
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, length);
    const char32_t code = code_of(character);
    if (is_dangerous(code)) {
      shown += escaped(code);
    } else {
      shown += character;
    }
    text.remove_prefix(length);
  }
  return shown;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80;
  }));
}

}  // namespace rowlock::cli
