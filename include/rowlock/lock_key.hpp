// What is locked: a type and a source id.
#ifndef ROWLOCK_LOCK_KEY_HPP
#define ROWLOCK_LOCK_KEY_HPP

#include <compare>
#include <iosfwd>
#include <string>

namespace rowlock {

/// Names one row of the lock table. Keys are equal when their bytes are equal, on every database:
/// no case folding, no collation, no trimming. They are ordered by bytes, and that is the order in
/// which several keys are locked.
struct lock_key {
  /// 1 to 64 bytes of `A-Z a-z 0-9 _ . : -`. (`/` is reserved for scopes.)
  std::string type;
  /// 1 to 255 bytes of valid UTF-8 without NUL.
  std::string source_id;

  friend auto operator<=>(const lock_key&, const lock_key&) = default;
};

/// Throws `error` (misuse) that says which part of the key is wrong and what is allowed. Every call
/// that takes a key checks it, before anything is sent.
void check(const lock_key& key);

/// `type/source_id`, for people.
std::ostream& operator<<(std::ostream& out, const lock_key& shown);

}  // namespace rowlock

#endif
