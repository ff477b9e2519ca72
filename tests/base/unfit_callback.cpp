// Does not compile, and is to say why: a callback that takes no transaction, given to ROWLOCK_CALL.
#include "rowlock/fence.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/testing/memory_store.hpp"

namespace {

struct subject {
  operator const rowlock::lock_key&() const;  // NOLINT(google-explicit-constructor)
  operator rowlock::fenced_leases() const;    // NOLINT(google-explicit-constructor)
};

void call(rowlock::memory_store& rows, const subject& which) {
  (void)rowlock::ROWLOCK_CALL<rowlock::memory_transaction>(rows, which, [] {});
}

}  // namespace
