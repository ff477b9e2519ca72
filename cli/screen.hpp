// The whole terminal as a screen that is drawn again and again, with ANSI sequences.
#ifndef ROWLOCK_CLI_SCREEN_HPP
#define ROWLOCK_CLI_SCREEN_HPP

#include <termios.h>

#include <span>
#include <string>

namespace rowlock::cli {

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
