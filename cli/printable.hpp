// Escaping of text from a database for a terminal.
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

/// The number of characters of `text`, which is valid UTF-8.
std::size_t character_count(std::string_view text);

}  // namespace rowlock::cli

#endif
