// A server that says it is older than it is.
#include "support/old_server.hpp"

#include <cstddef>
#include <utility>

namespace rowlock::tests {

namespace {

/// Three bytes with the size of what follows the header, the least one first; one with a number.
constexpr std::size_t mysql_header = 4;

bool is_mysql_greeting(const std::string& said) {
  constexpr char first_packet = 0;
  constexpr char protocol = 10;
  return said.size() > mysql_header && said[3] == first_packet && said[mysql_header] == protocol;
}

}  // namespace

std::function<std::string(std::string)> mysql_that_says_it_is(std::string version) {
  return [version = std::move(version)](std::string said) {
    if (!is_mysql_greeting(said)) return said;
    const auto begin = mysql_header + 1;
    said.replace(begin, said.find('\0', begin) - begin, version);
    auto size = said.size() - mysql_header;
    for (std::size_t i = 0; i < 3; ++i, size >>= 8U) said[i] = static_cast<char>(size & 0xFFU);
    return said;
  };
}

std::function<std::string(std::string)> postgres_that_says_it_is(std::string major) {
  return [major = std::move(major)](std::string said) {
    const std::string name{"server_version\0", 15};
    const auto found = said.find(name);
    if (found != std::string::npos) said.replace(found + name.size(), major.size(), major);
    return said;
  };
}

}  // namespace rowlock::tests
