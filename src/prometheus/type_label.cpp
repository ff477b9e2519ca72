// The lock type of a key, as the value of a label.
#include "prometheus/type_label.hpp"

#include <algorithm>

namespace rowlock::detail {

namespace {

// schema.table, each of which PostgreSQL and MariaDB limit to 64 bytes.
constexpr std::size_t longest = 128;

bool is_plain(char byte) {
  return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == ':' || byte == '-';
}

}  // namespace

std::string type_label(std::string_view type) {
  if (const auto slash = type.find('/'); slash != std::string_view::npos) {
    type.remove_prefix(slash + 1);
  }
  std::string label{type.substr(0, std::min(type.find('#'), longest))};
  std::replace_if(
      label.begin(), label.end(), [](char byte) { return !is_plain(byte); }, '_');
  return label.empty() ? "_" : label;
}

}  // namespace rowlock::detail
