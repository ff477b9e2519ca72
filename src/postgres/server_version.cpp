// Which servers are new enough.
#include "postgres/server_version.hpp"

#include "rowlock/error.hpp"

namespace rowlock::postgres {

void refuse_old(int version) {
  constexpr int oldest = 130000;  // the fence asks for pg_current_xact_id_if_assigned()
  if (version == 0 || version >= oldest) return;
  throw error{errc::rejected,
              "the server is too old: rowlock needs PostgreSQL 13 or newer, so upgrade it or "
              "connect to another"};
}

}  // namespace rowlock::postgres
