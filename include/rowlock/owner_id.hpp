// Who asks: one random id per attempt.
#ifndef ROWLOCK_OWNER_ID_HPP
#define ROWLOCK_OWNER_ID_HPP

#include <compare>
#include <string>

namespace rowlock {

/// Tells one attempt to acquire from every other one, so that an attempt whose answer got lost can
/// be asked again and recognises its own grant. It is a capability: whoever knows it can renew and
/// release, so it is never shown. For people there is the holder label.
struct owner_id {
  /// 128 random bits as 32 hexadecimal digits.
  std::string text;

  friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

/// A fresh id from the kernel's random source. Safe after fork.
owner_id make_owner_id();

}  // namespace rowlock

#endif
