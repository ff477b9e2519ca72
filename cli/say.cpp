// Messages of the command, on the standard error.
#include "cli/say.hpp"

#include <iostream>

#include "cli/printable.hpp"

namespace rowlock::cli {

void say(std::string_view message) {
  // In one piece, because the command that runs under the lock writes to the same place.
  std::cerr << "rowlock: " + printable(message) + '\n';
}

}  // namespace rowlock::cli
