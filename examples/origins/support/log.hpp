// A log: lines with a level.
#ifndef ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_LOG_HPP
#define ROWLOCK_EXAMPLES_ORIGINS_SUPPORT_LOG_HPP

#include <functional>
#include <iostream>
#include <string>

namespace origins {

enum class log_level { debug, info, warning };

/// May be called from any thread.
using log_sink = std::function<void(log_level, const std::string&)>;

inline void log_to_console(log_level level, const std::string& text) {
  (level == log_level::warning ? std::cerr : std::cout) << text << '\n';
}

}  // namespace origins

#endif
