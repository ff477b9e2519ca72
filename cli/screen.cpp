// The terminal's size, the keys in its bytes, its modes and its alternate screen.
#include "cli/screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

// The alternate screen, no cursor, and no new line where a text is wider than it seems.
constexpr std::string_view begin_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view end_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Writes `text` as far as the terminal takes it at once, or until `interrupt` is readable.
void write_all(std::string_view text, int interrupt) noexcept {
  // A terminal that is ready takes that much without blocking.
  constexpr std::size_t taken_at_once = 256;
  while (!text.empty()) {
    std::array<pollfd, 2> events{{{STDOUT_FILENO, POLLOUT, 0}, {interrupt, POLLIN, 0}}};
    if (poll(events.data(), events.size(), -1) < 0) continue;
    if ((events[0].revents & POLLOUT) == 0) return;
    const auto written = write(STDOUT_FILENO, text.data(), std::min(text.size(), taken_at_once));
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// The same, for at most a second: a process that ends does not wait for its terminal.
void write_soon(std::string_view text) noexcept {
  constexpr int longest_ms = 1000;
  pollfd ready{STDOUT_FILENO, POLLOUT, 0};
  if (poll(&ready, 1, longest_ms) != 1 || (ready.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, text.data(), text.size());
}

/// `usual` if the variable is not set, or is not a number from 1 to 10,000.
std::size_t number_in(const char* variable, std::size_t usual) {
  constexpr std::size_t most = 10'000;
  const char* const set = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  const auto number = whole_number<std::size_t>(set == nullptr ? "" : set).value_or(0);
  return number >= 1 && number <= most ? number : usual;
}

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

std::optional<terminal_size> size_of_terminal() {
  if (isatty(STDOUT_FILENO) != 1) return std::nullopt;
  terminal_size size;
  winsize known{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &known) == 0;
  size.columns = is_known && known.ws_col > 0 ? known.ws_col : number_in("COLUMNS", size.columns);
  size.lines = is_known && known.ws_row > 0 ? known.ws_row : number_in("LINES", size.lines);
  return size;
}

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

void require_terminal() {
  const char* const kind = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): no thread sets it
  const bool has_cursor = kind == nullptr || std::string_view{kind} != "dumb";
  if (has_cursor && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) return;
  throw misuse(
      "top needs a terminal that can move its cursor: use list, or top --once, where there is "
      "none");
}

screen::screen() {
  require_terminal();
  tcgetattr(STDIN_FILENO, &original_);
  enter();
}

screen::~screen() { leave(); }

void screen::enter() noexcept {
  termios keys = original_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S would stop the output
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  write_soon(begin_screen);
  is_entered_ = true;
}

void screen::leave() noexcept {
  if (!is_entered_) return;
  write_soon(end_screen);
  tcsetattr(STDIN_FILENO, TCSANOW, &original_);
  is_entered_ = false;
}

void screen::draw(std::span<const std::string> lines, int interrupt) const {
  if (!is_entered_) return;
  // Each line is cleared before it is written: after a line of full width the cursor still stands
  // on its last cell. A terminal that knows 2026 shows the frame at once; others ignore it.
  std::string frame = "\x1b[?2026h\x1b[H";
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) frame += "\r\n";
    frame += "\x1b[2K";
    frame += lines[at];
  }
  frame += "\x1b[?2026l";
  write_all(frame, interrupt);
}

}  // namespace rowlock::cli
