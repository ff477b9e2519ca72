// The name of the host and the number of the process.
#include <unistd.h>

#include <array>
#include <climits>

#include "base/process.hpp"

namespace rowlock::detail {

std::string own_label() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::string{host.data()}.substr(0, 100) + ':' + std::to_string(getpid());
}

}  // namespace rowlock::detail
