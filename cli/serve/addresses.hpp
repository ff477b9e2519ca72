// The address that serve listens on, and the names by which browsers may call it.
#ifndef ROWLOCK_CLI_SERVE_ADDRESSES_HPP
#define ROWLOCK_CLI_SERVE_ADDRESSES_HPP

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowlock::cli {

/// `127.0.0.1:9402`, `[::1]:9402`, `localhost:9402`, or `0.0.0.0:9402` for all interfaces. Names
/// other than localhost are refused: what they stand for may change.
class listen_address {
 public:
  /// Throws `error` (misuse).
  explicit listen_address(std::string_view text);
  /// `host` is a numeric address.
  listen_address(std::string host, std::uint16_t port) : host_{std::move(host)}, port_{port} {}

  /// Without brackets: `127.0.0.1`, `::1`.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// `127.0.0.1:9402`, `[::1]:9402`.
  [[nodiscard]] std::string text() const;
  /// Only processes of this machine reach it.
  [[nodiscard]] bool is_loopback() const;
  /// All addresses of this machine.
  [[nodiscard]] bool is_any() const;

 private:
  std::string host_;
  std::uint16_t port_ = 0;
};

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
