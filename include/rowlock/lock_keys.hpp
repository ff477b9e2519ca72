// Several keys, in the order in which they are locked.
#ifndef ROWLOCK_LOCK_KEYS_HPP
#define ROWLOCK_LOCK_KEYS_HPP

#include <initializer_list>
#include <span>
#include <vector>

#include "rowlock/lock_key.hpp"

namespace rowlock {

/// 1 to 1,000 different keys, sorted by bytes, each once (however often it was named): everybody
/// locks in this one order, so that nobody deadlocks. A parameter of this type takes one key, a
/// list in braces, or a vector. Throws `error` (misuse) for no key, too many, and a wrong one.
class lock_keys {
 public:
  static constexpr std::size_t most = 1000;

  lock_keys(lock_key key);                          // NOLINT(google-explicit-constructor)
  lock_keys(std::initializer_list<lock_key> keys);  // NOLINT(google-explicit-constructor)
  lock_keys(std::vector<lock_key> keys);            // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::span<const lock_key> in_order() const noexcept { return keys_; }

 private:
  std::vector<lock_key> keys_;
};

}  // namespace rowlock

#endif
