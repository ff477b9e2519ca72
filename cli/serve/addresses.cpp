// The address that serve listens on, and the names by which browsers may call it.
#include "cli/serve/addresses.hpp"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/address.hpp>
#include <cctype>

#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

namespace ip = boost::asio::ip;

[[noreturn]] void refuse_address() {
  throw misuse(
      "--listen is no address with a port: write 127.0.0.1:9402, [::1]:9402, or 0.0.0.0:9402 for "
      "all interfaces; port 0 takes a free one");
}

/// Without the port and the brackets of an IPv6 address, in small letters.
std::string name_in(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return boost::to_lower_copy(std::string{host});
}

bool is_host_name(std::string_view name) {
  constexpr std::size_t longest = 253;
  return !name.empty() && name.size() <= longest &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
         });
}

}  // namespace

listen_address::listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse_address();
  const auto port = whole_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) refuse_address();
  port_ = *port;
  host_ = text.substr(0, colon);
  boost::system::error_code refused;
  if (host_.starts_with('[') && host_.ends_with(']')) {
    host_ = host_.substr(1, host_.size() - 2);
    ip::make_address_v6(host_, refused);
  } else {
    if (host_ == "localhost") host_ = "127.0.0.1";
    ip::make_address_v4(host_, refused);
  }
  if (refused) refuse_address();
}

std::string listen_address::text() const {
  const bool is_six = host_.find(':') != std::string::npos;
  return (is_six ? '[' + host_ + ']' : host_) + ':' + std::to_string(port_);
}

bool listen_address::is_loopback() const { return ip::make_address(host_).is_loopback(); }

bool listen_address::is_any() const { return ip::make_address(host_).is_unspecified(); }

host_names::host_names(const listen_address& bound, const std::vector<std::string>& more)
    : names_{"localhost", bound.host()}, takes_any_address_{bound.is_any()} {
  for (const auto& name : more) {
    if (!is_host_name(name)) {
      throw misuse(
          "--host is no host name: write one as in locks.example.org, without http:// and without "
          "a port");
    }
    names_.insert(name_in(name));
  }
}

bool host_names::allow(std::string_view host) const {
  const std::string name = name_in(host);
  if (names_.contains(name)) return true;
  boost::system::error_code is_a_name;
  ip::make_address(name, is_a_name);
  return takes_any_address_ && !is_a_name;
}

}  // namespace rowlock::cli
