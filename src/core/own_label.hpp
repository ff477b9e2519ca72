// Who we are, for people, where nobody gave us a name.
#ifndef ROWLOCK_CORE_OWN_LABEL_HPP
#define ROWLOCK_CORE_OWN_LABEL_HPP

#include <string>

namespace rowlock::detail {

/// `host:pid`.
std::string own_label();

}  // namespace rowlock::detail

#endif
