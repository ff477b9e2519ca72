// Which servers are new enough.
#ifndef ROWLOCK_POSTGRES_SERVER_VERSION_HPP
#define ROWLOCK_POSTGRES_SERVER_VERSION_HPP

namespace rowlock::postgres {

/// Throws `error` (rejected) for a server that lacks what the statements use. `version` is what
/// libpq knows from the start of the connection: 150018 for 15.18, zero where it knows none.
void refuse_old(int version);

}  // namespace rowlock::postgres

#endif
