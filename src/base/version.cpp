// How a version is shown.
#include "rowlock/version.hpp"

#include <ostream>

namespace rowlock {

std::ostream& operator<<(std::ostream& out, const version& shown) { return out << shown.number; }

}  // namespace rowlock
