// Escapes and widths of texts, by the tables of Unicode.
#include "cli/printable.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace rowlock::cli {

namespace {

constexpr std::string_view ellipsis = "\u2026";  // one cell

struct character {
  /// -1 if no UTF-8 begins there: then it is a byte.
  utf8proc_int32_t code = -1;
  std::size_t bytes = 1;

  [[nodiscard]] std::size_t cells() const {
    return code == -1 ? 1 : static_cast<std::size_t>(std::max(utf8proc_charwidth(code), 0));
  }
};

character first_character(std::string_view text) {
  character first;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());  // NOLINT
  const auto length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &first.code);
  if (length > 0) first.bytes = static_cast<std::size_t>(length);
  return first;
}

/// Control characters, invisible ones, and line and paragraph separators. Also those that embed or
/// override the direction of writing, which can make one text look like another.
bool is_dangerous(utf8proc_int32_t code) {
  struct range {
    utf8proc_int32_t first, last;
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

std::string escaped(utf8proc_int32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{{{:02x}}}", code);
}

/// The first character of a text, with the combining characters after it: they share its cells.
struct cluster {
  std::size_t bytes;
  std::size_t cells;
};

cluster first_cluster(std::string_view text) {
  const auto first = first_character(text);
  cluster found{first.bytes, first.cells()};
  while (found.bytes < text.size()) {
    const auto next = first_character(text.substr(found.bytes));
    if (next.cells() != 0) break;
    found.bytes += next.bytes;
  }
  return found;
}

/// The bytes at the beginning of `text` that fit into `cells` cells.
std::size_t beginning_of(std::string_view text, std::size_t cells) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const auto next = first_cluster(text.substr(bytes));
    if (next.cells > cells) break;
    cells -= next.cells;
    bytes += next.bytes;
  }
  return bytes;
}

/// The end of `text` that fits into `cells` cells.
std::string_view end_of(std::string_view text, std::size_t cells) {
  for (auto left = cell_count(text); left > cells;) {
    const auto next = first_cluster(text);
    text.remove_prefix(next.bytes);
    left -= next.cells;
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto next = first_character(text);
    if (next.code == -1) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_dangerous(next.code)) {
      shown += escaped(next.code);
    } else {
      shown += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

std::size_t cell_count(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const auto next = first_character(text);
    cells += next.cells();
    text.remove_prefix(next.bytes);
  }
  return cells;
}

std::string without_middle(std::string_view text, std::size_t cells) {
  if (cell_count(text) <= cells) return std::string{text};
  if (cells == 0) return {};
  const auto kept = cells - 1;
  const auto before = text.substr(0, beginning_of(text, kept - kept / 2));
  return std::string{before}.append(ellipsis).append(end_of(text, kept / 2));
}

std::string without_end(std::string_view text, std::size_t cells) {
  if (cell_count(text) <= cells) return std::string{text};
  if (cells == 0) return {};
  return std::string{text.substr(0, beginning_of(text, cells - 1))}.append(ellipsis);
}

std::string padded(std::string text, std::size_t cells) {
  const auto used = cell_count(text);
  if (used < cells) text.append(cells - used, ' ');
  return text;
}

}  // namespace rowlock::cli
