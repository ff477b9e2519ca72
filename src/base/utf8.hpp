// Validation of UTF-8.
#ifndef ROWLOCK_BASE_UTF8_HPP
#define ROWLOCK_BASE_UTF8_HPP

#include <string_view>

namespace rowlock::detail {

/// By RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is valid here.
bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace rowlock::detail

#endif
