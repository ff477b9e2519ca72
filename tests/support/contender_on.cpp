// The program that uses a store of rowlock from another process.
#include "support/benches.hpp"

namespace rowlock::tests {

std::vector<std::string> contender_on(const std::string& url, const std::string& table) {
  return {ROWLOCK_CONTENDER, url, table};
}

}  // namespace rowlock::tests
