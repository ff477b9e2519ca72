// The text with which a lease passes to another process.
#ifndef ROWLOCK_LEASE_PASSED_LEASE_HPP
#define ROWLOCK_LEASE_PASSED_LEASE_HPP

#include <string>
#include <string_view>

#include "rowlock/lock_key.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// What the row of the lease has.
struct passed_lease {
  lock_key key;
  owner_id owner;
  version token;
};

/// `rl1.<type>.<source id>.<token>.<owner>`, percent-encoded. The owner comes last: it has a fixed
/// length, so a text that was cut is recognised.
std::string to_text(const passed_lease& passed);

/// Throws `error` (misuse) if the text is no whole one. The message does not contain it.
passed_lease to_passed_lease(std::string_view text);

}  // namespace rowlock::detail

#endif
