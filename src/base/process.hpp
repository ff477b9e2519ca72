// The labels of this process and of its threads.
#ifndef ROWLOCK_BASE_PROCESS_HPP
#define ROWLOCK_BASE_PROCESS_HPP

#include <cstddef>
#include <string>

#include "rowlock/detail/export.hpp"

namespace rowlock::detail {

/// `host:pid`.
ROWLOCK_EXPORT std::string holder_label();

/// The name of the calling thread, or its number if the name is empty or no text.
inline constexpr std::size_t longest_thread_label = 15;  // Linux keeps no longer name
std::string thread_label();

}  // namespace rowlock::detail

#endif
