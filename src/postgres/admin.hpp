// Notes, and keys taken by force, on PostgreSQL: which statements, and what their answers mean.
#ifndef ROWLOCK_POSTGRES_ADMIN_HPP
#define ROWLOCK_POSTGRES_ADMIN_HPP

#include "postgres/session.hpp"

namespace rowlock::postgres {

// As the calls of the port of these names. They throw what the driver throws, but for contention,
// which is an answer.

change_answer write_note(store_call& asking, const note_request& request);
force_answer force_release(store_call& asking, const force_request& request);

}  // namespace rowlock::postgres

#endif
