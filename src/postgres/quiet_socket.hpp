// Whether a connection that nobody uses is still there.
#ifndef ROWLOCK_POSTGRES_QUIET_SOCKET_HPP
#define ROWLOCK_POSTGRES_QUIET_SOCKET_HPP

#include <poll.h>

namespace rowlock::postgres {

/// Nobody asked anything on it, so whatever is there to be read is the end, or news of it. No round
/// trip.
inline bool is_quiet(int socket) noexcept {
  pollfd watched{.fd = socket, .events = POLLIN, .revents = 0};
  return poll(&watched, 1, 0) == 0;
}

}  // namespace rowlock::postgres

#endif
