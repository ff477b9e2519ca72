// Text in the language of man pages.
#ifndef ROWLOCK_CLI_MANUAL_ROFF_HPP
#define ROWLOCK_CLI_MANUAL_ROFF_HPP

#include <string>
#include <string_view>

namespace rowlock::cli {

/// Characters that all stand for themselves: no dash becomes a hyphen, and no quote a curly one.
std::string roff_text(std::string_view text);
/// The same as a whole line, which is no request.
std::string roff_line(std::string_view text);
std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);

/// Lines of at most 80 characters, each with its end.
std::string roff_paragraph(std::string_view text);

}  // namespace rowlock::cli

#endif
