// Keys of a terminal.
#ifndef ROWLOCK_CLI_TOP_KEYS_HPP
#define ROWLOCK_CLI_TOP_KEYS_HPP

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

/// A key that was pressed: a byte of a text, or one of those below.
using key_press = char;
inline constexpr key_press enter_key = '\n';
inline constexpr key_press erase_key = '\x7f';
inline constexpr key_press escape_key = '\x1b';

/// The keys in what was read at once. Sequences of other keys (arrows, F1) and control characters
/// are left out.
std::vector<key_press> keys_in(std::string_view read);

/// A line that is being typed.
class typed_line {
 public:
  /// Takes any key but enter and escape.
  void take(key_press key);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace rowlock::cli

#endif
