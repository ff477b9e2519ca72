// Texts on a terminal: escapes for what it might obey, and their widths in cells.
#ifndef ROWLOCK_CLI_PRINTABLE_HPP
#define ROWLOCK_CLI_PRINTABLE_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace rowlock::cli {

/// `text` with everything that could move the cursor, change colours or turn the direction of
/// writing replaced by `\n`, `\t`, `\xHH` (a byte) or `\u{HHHH}` (a character). Bytes that are not
/// UTF-8 become `\xHH`.
std::string printable(std::string_view text);

/// The cells of `text`, which is `printable`: none for a combining character, two for a wide one.
std::size_t cell_count(std::string_view text);

/// `text` in `cells` cells at most. What is too long loses its middle: `invo…4711`.
std::string without_middle(std::string_view text, std::size_t cells);
/// The same, losing its end: `step 1 of…`.
std::string without_end(std::string_view text, std::size_t cells);

/// `text` with blanks up to `cells` cells.
std::string padded(std::string text, std::size_t cells);

}  // namespace rowlock::cli

#endif
