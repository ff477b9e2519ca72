// Percent-decoding of URLs.
#ifndef ROWLOCK_BASE_PERCENT_DECODING_HPP
#define ROWLOCK_BASE_PERCENT_DECODING_HPP

#include <string>
#include <string_view>

namespace rowlock::detail {

/// Throws `error` (misuse) if a % is not followed by two hexadecimal digits, and for a NUL byte.
/// The message does not contain the text.
std::string percent_decoded(std::string_view text);

}  // namespace rowlock::detail

#endif
