// The names by which browsers may call the server.
#ifndef ROWLOCK_CLI_SERVE_HOST_NAMES_HPP
#define ROWLOCK_CLI_SERVE_HOST_NAMES_HPP

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve/listening_socket.hpp"

namespace rowlock::cli {

/// A page of another origin whose name is made to stand for our address (DNS rebinding) could read
/// the answers. Its requests have that name in their Host header, so only known names are answered.
class host_names {
 public:
  /// The address, localhost, and `more`. On an address for all interfaces any numeric address is
  /// one of ours, as probes and scrapers write it; it is no name. Throws `error` (misuse) when one
  /// of `more` is no host name.
  host_names(const listen_address& bound, const std::vector<std::string>& more);

  /// `host` is the header's value, with a port or without.
  [[nodiscard]] bool allow(std::string_view host) const;

 private:
  std::set<std::string, std::less<>> names_;
  bool takes_any_address_;
};

}  // namespace rowlock::cli

#endif
