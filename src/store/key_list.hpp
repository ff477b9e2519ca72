// Keys of requests.
#ifndef ROWLOCK_STORE_KEY_LIST_HPP
#define ROWLOCK_STORE_KEY_LIST_HPP

#include <span>
#include <vector>

#include "rowlock/lock_key.hpp"

namespace rowlock::detail {

/// Not owned.
using key_list = std::vector<const lock_key*>;

inline key_list list_of(std::span<const lock_key> keys) {
  key_list listed;
  listed.reserve(keys.size());
  for (const auto& key : keys) listed.push_back(&key);
  return listed;
}

}  // namespace rowlock::detail

#endif
