// Keys, on their way into a statement.
#ifndef ROWLOCK_POSTGRES_KEY_LIST_HPP
#define ROWLOCK_POSTGRES_KEY_LIST_HPP

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/bound_values.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock::postgres {

/// They belong to somebody else.
using key_list = std::vector<const lock_key*>;

inline key_list list_of(std::span<const lock_key> keys) {
  key_list listed;
  listed.reserve(keys.size());
  for (const auto& key : keys) listed.push_back(&key);
  return listed;
}

/// Arrays, one value per key.
inline std::string types_of(const key_list& keys) {
  return array_of(keys, [](const lock_key* key) { return std::string_view{key->type}; });
}
inline std::string ids_of(const key_list& keys) {
  return array_of(keys, [](const lock_key* key) { return std::string_view{key->source_id}; });
}

}  // namespace rowlock::postgres

#endif
