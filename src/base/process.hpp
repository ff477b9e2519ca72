// The label of this process.
#ifndef ROWLOCK_BASE_PROCESS_HPP
#define ROWLOCK_BASE_PROCESS_HPP

#include <string>

namespace rowlock::detail {

/// `host:pid`.
std::string holder_label();

}  // namespace rowlock::detail

#endif
