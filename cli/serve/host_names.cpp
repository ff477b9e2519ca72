// The names by which browsers may call the server.
#include "cli/serve/host_names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

/// Without the port and the brackets of an IPv6 address, in small letters.
std::string name_in(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name{host};
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

bool is_numeric_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return inet_pton(AF_INET, name.c_str(), parsed.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), parsed.data()) == 1;
}

bool is_host_name(std::string_view name) {
  constexpr std::size_t longest = 253;
  return !name.empty() && name.size() <= longest &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
         });
}

}  // namespace

host_names::host_names(const listen_address& bound, const std::vector<std::string>& more)
    : names_{"localhost", bound.host()}, takes_any_address_{bound.is_any()} {
  for (const auto& name : more) {
    if (!is_host_name(name)) {
      throw error{errc::misuse,
                  "--host is no host name: write one as in locks.example.org, without http:// and "
                  "without a port"};
    }
    names_.insert(name_in(name));
  }
}

bool host_names::allow(std::string_view host) const {
  const std::string name = name_in(host);
  return names_.contains(name) || (takes_any_address_ && is_numeric_address(name));
}

}  // namespace rowlock::cli
