// How long a test waits for what must come.
#ifndef ROWLOCK_TESTS_SUPPORT_PATIENCE_HPP
#define ROWLOCK_TESTS_SUPPORT_PATIENCE_HPP

#include <chrono>

namespace rowlock::tests {

/// Nothing a test waits for takes longer; what does is reported as hanging.
inline constexpr std::chrono::seconds patience{60};

}  // namespace rowlock::tests

#endif
