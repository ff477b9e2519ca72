// The terminal: its size, its keys, and the whole of it as a screen, with ANSI sequences.
#ifndef ROWLOCK_CLI_SCREEN_HPP
#define ROWLOCK_CLI_SCREEN_HPP

#include <termios.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

struct terminal_size {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// None if the standard output is no terminal. What the terminal does not know is taken from
/// COLUMNS and LINES, else it is 80 and 24.
std::optional<terminal_size> size_of_terminal();

/// The cells of a line of a terminal; none if the standard output is none.
inline std::optional<std::size_t> terminal_columns() {
  const auto size = size_of_terminal();
  return size ? std::optional{size->columns} : std::nullopt;
}

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

/// Throws `error` (misuse) if the standard input or the standard output is no terminal, or one that
/// cannot move its cursor (TERM=dumb).
void require_terminal();

/// From its construction on the terminal shows its alternate screen, without a cursor, and delivers
/// keys at once and without an echo; Ctrl-C and Ctrl-Z still send their signals. The destructor
/// restores what was before.
///
/// Thread-safety: one thread at a time.
class screen {
 public:
  /// Throws `error` (misuse) if the standard input or the standard output is no terminal.
  screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;
  ~screen();

  /// Gives the terminal back, and takes it again: around a stop of the process.
  void leave() noexcept;
  void enter() noexcept;

  /// Shows `lines`, one for each line of the terminal, unless the screen was left. They must fit,
  /// and be `printable` apart from styles. A terminal that takes no more (its other end does not
  /// read) gets a part of them once `interrupt`, a descriptor, is readable.
  void draw(std::span<const std::string> lines, int interrupt) const;

 private:
  termios original_{};
  bool is_entered_ = false;
};

}  // namespace rowlock::cli

#endif
