// The keys in the bytes from a terminal.
#include "cli/top_keys.hpp"

#include <algorithm>

namespace rowlock::cli {

namespace {

/// The bytes of the sequence at the beginning of `read`, which begins with an escape; 1 for the key
/// alone. CSI sequences end with a byte from `@` to `~`, and SS3 sequences have one byte more.
std::size_t sequence_length(std::string_view read) {
  if (read.size() < 2) return 1;
  if (read[1] == 'O') return std::min<std::size_t>(3, read.size());
  if (read[1] != '[') return 2;  // Alt and a key
  const auto* const end = std::find_if(read.begin() + 2, read.end(),
                                       [](char byte) { return byte >= '@' && byte <= '~'; });
  return std::min<std::size_t>(static_cast<std::size_t>(end - read.begin()) + 1, read.size());
}

}  // namespace

std::vector<key_press> keys_in(std::string_view read) {
  std::vector<key_press> keys;
  while (!read.empty()) {
    std::size_t used = 1;
    const auto byte = static_cast<unsigned char>(read.front());
    if (byte == escape_key) {
      used = sequence_length(read);
      if (used == 1) keys.push_back(escape_key);
    } else if (byte == '\n' || byte == '\r') {
      keys.push_back(enter_key);
    } else if (byte == '\b' || byte == erase_key) {
      keys.push_back(erase_key);
    } else if (byte >= ' ') {
      keys.push_back(read.front());
    }
    read.remove_prefix(used);
  }
  return keys;
}

void typed_line::take(key_press key) {
  constexpr std::size_t longest = 256;
  if (key != erase_key) {
    if (text_.size() < longest) text_ += key;
    return;
  }
  // A whole character of UTF-8.
  const auto continues = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80;
  };
  while (!text_.empty() && continues(text_.back())) text_.pop_back();
  if (!text_.empty()) text_.pop_back();
}

}  // namespace rowlock::cli
