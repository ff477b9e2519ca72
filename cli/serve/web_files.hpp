// The files of the page, compiled into the command: see cmake/rowlock_embed_web.cmake.
#ifndef ROWLOCK_CLI_SERVE_WEB_FILES_HPP
#define ROWLOCK_CLI_SERVE_WEB_FILES_HPP

#include <span>
#include <string_view>

namespace rowlock::cli {

struct web_file {
  /// `page.css`.
  std::string_view name;
  std::string_view content;
};

/// page.html comes first.
std::span<const web_file> web_files() noexcept;

}  // namespace rowlock::cli

#endif
