// UTF-8 and percent-encoding.
#ifndef ROWLOCK_BASE_TEXT_HPP
#define ROWLOCK_BASE_TEXT_HPP

#include <string>
#include <string_view>

#include "rowlock/detail/export.hpp"

namespace rowlock::detail {

/// By RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is valid here.
ROWLOCK_EXPORT bool is_valid_utf8(std::string_view text) noexcept;

/// Leaves only `A-Z a-z 0-9 - _` as they are.
std::string percent_encoded(std::string_view text);

/// Throws `error` (misuse) if a % is not followed by two hexadecimal digits, and for a NUL byte.
/// The message does not contain the text.
ROWLOCK_EXPORT std::string percent_decoded(std::string_view text);

}  // namespace rowlock::detail

#endif
