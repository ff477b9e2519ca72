// What is locked: a type and a source id.
#ifndef ROWLOCK_LOCK_KEY_HPP
#define ROWLOCK_LOCK_KEY_HPP

#include <compare>
#include <iosfwd>
#include <string>
#include <string_view>

namespace rowlock {

/// Names one row of the lock table. Keys are equal when their bytes are equal, on every database:
/// no case folding, no collation, no trimming. They are ordered by bytes, and that is the order in
/// which several keys are locked.
struct lock_key {
  /// 1 to 64 bytes of `A-Z a-z 0-9 _ . : -`. `scoped` puts a scope and `/` before it; what takes
  /// several rows for one key, such as `semaphore`, puts `#` and a number of 1 to 4 digits behind.
  std::string type;
  /// 1 to 255 bytes of valid UTF-8 without NUL.
  std::string source_id;

  friend auto operator<=>(const lock_key&, const lock_key&) = default;
};

/// Throws `error` (misuse) that says which part of the key is wrong and what is allowed. Every call
/// that takes a key checks it, before anything is sent.
void check(const lock_key& key);

/// The key within a scope: a region, a tenant, a site. It meets the same key neither in another
/// scope nor outside of all. A scope has 1 to 64 bytes of the characters of a type. Throws `error`
/// (misuse) for another one, and for a key that has a scope.
lock_key scoped(std::string_view scope, const lock_key& key);

/// `type/source_id`, for people.
std::ostream& operator<<(std::ostream& out, const lock_key& shown);

}  // namespace rowlock

#endif
