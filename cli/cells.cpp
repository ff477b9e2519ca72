// Widths of texts on a terminal, by the tables of Unicode.
#include "cli/cells.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace rowlock::cli {

namespace {

constexpr std::string_view ellipsis = "\u2026";  // one cell

/// The first character of a text, with the combining characters after it: they share its cells.
struct cluster {
  std::size_t bytes;
  std::size_t cells;
};

struct character {
  std::size_t bytes;
  std::size_t cells;
};

character first_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());  // NOLINT
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length <= 0) return {1, 1};
  return {static_cast<std::size_t>(length),
          static_cast<std::size_t>(std::max(utf8proc_charwidth(code), 0))};
}

cluster first_cluster(std::string_view text) {
  const auto first = first_character(text);
  cluster found{first.bytes, first.cells};
  while (found.bytes < text.size()) {
    const auto next = first_character(text.substr(found.bytes));
    if (next.cells != 0) break;
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
  auto left = cell_count(text);
  while (left > cells) {
    const auto next = first_cluster(text);
    text.remove_prefix(next.bytes);
    left -= next.cells;
  }
  return text;
}

}  // namespace

std::size_t cell_count(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const auto next = first_character(text);
    cells += next.cells;
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
