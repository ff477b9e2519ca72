// Which requests a store may be asked.
#include <chrono>

#include "core/utf8.hpp"
#include "rowlock/error.hpp"
#include "rowlock/store.hpp"

namespace rowlock {

namespace {

void check_ttl(std::chrono::microseconds ttl) {
  if (ttl <= std::chrono::microseconds::zero()) {
    throw error{errc::misuse, "the ttl is not above zero: a lease must last some time"};
  }
  if (ttl > longest_ttl) {
    throw error{errc::misuse, "the ttl is above 24 hours: make it short and let it be renewed"};
  }
}

void check_holder(const std::string& holder) {
  constexpr std::size_t longest = 128;
  if (holder.size() > longest) {
    throw error{errc::misuse, "the holder label has more than 128 bytes: shorten it"};
  }
  if (holder.find('\0') != std::string::npos || !detail::is_valid_utf8(holder)) {
    throw error{errc::misuse, "the holder label must be valid UTF-8 without NUL"};
  }
}

}  // namespace

void check(const acquire_request& request) {
  check(request.key);
  check_ttl(request.ttl);
  check_holder(request.holder);
}

void check(const renew_request& request) {
  check(request.key);
  check_ttl(request.ttl);
}

}  // namespace rowlock
