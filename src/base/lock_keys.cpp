// Several keys, in the order in which they are locked.
#include "rowlock/lock_keys.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock {

lock_keys::lock_keys(lock_key key) : lock_keys{std::vector{std::move(key)}} {}

lock_keys::lock_keys(std::initializer_list<lock_key> keys) : lock_keys{std::vector(keys)} {}

lock_keys::lock_keys(std::vector<lock_key> keys) : keys_{std::move(keys)} {
  if (keys_.empty()) throw error{errc::misuse, "no key to lock: name at least one"};
  for (const lock_key& key : keys_) check(key);
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  if (keys_.size() > most) {
    throw error{errc::misuse, std::to_string(keys_.size()) + " keys at once, more than " +
                                  std::to_string(most) + ": lock something coarser"};
  }
}

}  // namespace rowlock
