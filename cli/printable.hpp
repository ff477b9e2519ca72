// Makes text from a database safe to show on a terminal.
#ifndef ROWLOCK_CLI_PRINTABLE_HPP
#define ROWLOCK_CLI_PRINTABLE_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace rowlock::cli {

/// `text` with everything that could move the cursor, change colours or turn the direction of
/// writing replaced by `\n`, `\t`, `\xHH` (a byte) or `\u{HHHH}` (a character). Bytes that are no
/// UTF-8 become `\xHH`.
std::string printable(std::string_view text);

/// How many characters `text`, valid UTF-8, has.
std::size_t character_count(std::string_view text);

}  // namespace rowlock::cli

#endif
