// Bytes that stand as %XX in a URL.
#ifndef ROWLOCK_BASE_PERCENT_DECODING_HPP
#define ROWLOCK_BASE_PERCENT_DECODING_HPP

#include <string>
#include <string_view>

namespace rowlock::detail {

/// Throws `error` (misuse), without the text, where a % does not stand before two hexadecimal
/// digits, and for a NUL byte.
std::string percent_decoded(std::string_view text);

}  // namespace rowlock::detail

#endif
