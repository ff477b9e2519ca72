// The secret random id of an attempt.
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "rowlock/error.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock {

owner_id make_owner_id() {
  std::array<unsigned char, 16> bytes{};
  // A signal does not shorten a read of up to 256 bytes once the source is ready (getrandom(2)).
  while (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    if (errno != EINTR) {
      throw error{errc::unavailable, "the kernel gives no random bytes: check getrandom(2)"};
    }
  }
  constexpr const char* digits = "0123456789abcdef";
  owner_id made;
  made.text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    made.text += digits[byte >> 4U];
    made.text += digits[byte & 0x0FU];
  }
  return made;
}

}  // namespace rowlock
