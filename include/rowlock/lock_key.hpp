// Keys, sets of keys, and versions.
#ifndef ROWLOCK_LOCK_KEY_HPP
#define ROWLOCK_LOCK_KEY_HPP

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/detail/export.hpp"

namespace rowlock {

/// Names one row of the lock table. Keys are equal if their bytes are equal, on every database: no
/// case folding, no collation, no trimming. Several keys are locked in the order of their bytes.
struct lock_key {
  /// 1 to 64 bytes of `A-Z`, `a-z`, `0-9` and `._:-`. `scoped` prepends a scope and `/`. A type
  /// that uses several rows for one key, such as `semaphore`, appends `#` and 1 to 4 digits.
  std::string type;
  /// 1 to 255 bytes of valid UTF-8 without NUL.
  std::string source_id;

  friend auto operator<=>(const lock_key&, const lock_key&) = default;
};

/// Throws `error` (misuse) that says which part of the key is wrong and what is allowed. Every call
/// that takes a key checks it before it sends anything.
ROWLOCK_EXPORT void check(const lock_key& key);

/// The key within a scope: a region, a tenant, a site. It differs from the same key in another
/// scope or without one. A scope has 1 to 64 bytes of the characters of a type. Throws `error`
/// (misuse) for any other scope, and for a key that already has one.
ROWLOCK_EXPORT lock_key scoped(std::string_view scope, const lock_key& key);

/// Joins several parts to a source id, such as a region, a table and a number. `/` stands between
/// the parts; in a part, `%`, `/` and NUL become `%25`, `%2F` and `%00`. So no two lists of parts
/// give the same text, and a single part without these bytes is unchanged. The key is checked as
/// always. Throws `error` (misuse) for no part.
ROWLOCK_EXPORT std::string source_id_of(std::initializer_list<std::string_view> parts);
ROWLOCK_EXPORT std::string source_id_of(std::span<const std::string> parts);

/// Splits what `source_id_of` has joined. Throws `error` (misuse) for any other text.
ROWLOCK_EXPORT std::vector<std::string> parts_of(std::string_view source_id);

/// `type/source_id`, for people.
ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const lock_key& shown);

/// 1 to 1,000 different keys, sorted by bytes; duplicates count once. All callers lock in this one
/// order, so they cannot deadlock. A parameter of this type takes one key, a list in braces, or a
/// vector. Throws `error` (misuse) for no key, too many keys, or an invalid one.
class ROWLOCK_EXPORT lock_keys {
 public:
  static constexpr std::size_t most = 1000;

  lock_keys(lock_key key);                          // NOLINT(google-explicit-constructor)
  lock_keys(std::initializer_list<lock_key> keys);  // NOLINT(google-explicit-constructor)
  lock_keys(std::vector<lock_key> keys);            // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::span<const lock_key> in_order() const noexcept { return keys_; }

 private:
  std::vector<lock_key> keys_;
};

/// One number with three uses: the expected value of a compare-and-set, the proof of ownership, and
/// the fencing token. It only rises: `greatest(version + 1, now in microseconds)`, a hybrid logical
/// clock (Kulkarni et al., 2014). So an old number never returns, neither after a purge of the row
/// nor after a crash that lost an acknowledged grant. Fits a double (below 2^53) until 2255.
struct version {
  std::int64_t number = 0;

  friend auto operator<=>(const version&, const version&) = default;
};

ROWLOCK_EXPORT std::ostream& operator<<(std::ostream& out, const version& shown);

}  // namespace rowlock

#endif
