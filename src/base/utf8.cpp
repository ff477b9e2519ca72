// Whether bytes are valid UTF-8.
#include "base/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace rowlock::detail {

namespace {

/// Length of the sequence that begins with `lead`, and the smallest code point it may encode.
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
