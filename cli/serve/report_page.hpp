// The page as one file, with its data: see cli/web/README.md.
#ifndef ROWLOCK_CLI_SERVE_REPORT_PAGE_HPP
#define ROWLOCK_CLI_SERVE_REPORT_PAGE_HPP

#include <string>

namespace rowlock::cli {

/// `locks` and `history` are the answers of the two addresses of the API as JSON, of any length.
std::string report_page(const std::string& locks, const std::string& history);

}  // namespace rowlock::cli

#endif
