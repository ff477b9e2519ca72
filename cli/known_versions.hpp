// Versions of databases on which the tests of rowlock ran.
#ifndef ROWLOCK_CLI_KNOWN_VERSIONS_HPP
#define ROWLOCK_CLI_KNOWN_VERSIONS_HPP

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

/// Major number first.
using version_numbers = std::vector<int>;

enum class version_support {
  known,    ///< Among those on which the tests ran.
  not_run,  ///< The library accepts it, and the tests did not run on it.
  too_old,  ///< The statements do not work there.
};

/// A server that is too old accepts no session, so `too_old` is for SQLite alone: the program may
/// have another version than it was built with. `product` is that of an `inspection`.
version_support support_of(std::string_view product, const version_numbers& version);

/// `the tests of rowlock ran on 14 to 18`.
std::string known_versions_of(std::string_view product);

/// `15.18`.
std::string to_text(const version_numbers& version);

}  // namespace rowlock::cli

#endif
