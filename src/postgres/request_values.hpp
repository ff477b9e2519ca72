// Requests, on their way into a statement.
#ifndef ROWLOCK_POSTGRES_REQUEST_VALUES_HPP
#define ROWLOCK_POSTGRES_REQUEST_VALUES_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"
#include "postgres/values.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// Those of the requests that have no answer yet. They belong to somebody else.
template <class Request>
using unanswered = std::vector<const Request*>;

template <class Request>
unanswered<Request> all(std::span<const Request> requests) {
  unanswered<Request> pointers;
  pointers.reserve(requests.size());
  for (const auto& request : requests) pointers.push_back(&request);
  return pointers;
}

/// Takes those that are done out of `asked`, in which they have their indexes. Throws `error`
/// (rejected) where one of them is done twice.
template <class Request, class Act>
void take_out(unanswered<Request>& asked, const std::vector<done_request>& done, const Act& act) {
  for (const auto& each : done) {
    if (each.index >= asked.size() || asked[each.index] == nullptr) throw_two_rows_of_a_key();
    act(*asked[each.index], each);
    asked[each.index] = nullptr;
  }
  std::erase(asked, nullptr);
}

template <class Request>
key_list keys_of(const unanswered<Request>& requests) {
  key_list keys;
  keys.reserve(requests.size());
  for (const auto* request : requests) keys.push_back(&request->key);
  return keys;
}

// What statements take of a request, for `array_of`.

inline constexpr auto owner_in = [](const auto* request) {
  return std::string_view{request->owner.text};
};
inline constexpr auto holder_in = [](const acquire_request* request) {
  return std::string_view{request->holder};
};
inline constexpr auto ttl_in = [](const auto* request) {
  return std::int64_t{request->ttl.count()};
};
inline constexpr auto version_in = [](const auto* request) { return request->version.number; };
inline constexpr auto expected_in = [](const acquire_request* request) {
  return request->expected ? std::optional{request->expected->number} : std::nullopt;
};
inline constexpr auto unless_done_in = [](const acquire_request* request) {
  return request->unless_done;
};
inline constexpr auto failed_in = [](const release_request* request) { return request->failed; };
inline constexpr auto stay_closed_in = [](const release_request* request) {
  return std::int64_t{request->stay_closed.count()};
};
inline constexpr auto done_for_in = [](const release_request* request) {
  return request->done_for ? std::optional{std::int64_t{request->done_for->count()}} : std::nullopt;
};

/// For `insert_many`; without a limit, all.
inline bound_values values_to_insert(const unanswered<acquire_request>& requests,
                                     const std::optional<std::int64_t>& at_most = {}) {
  const auto keys = keys_of(requests);
  return bound_values{types_of(keys),
                      ids_of(keys),
                      array_of(requests, owner_in),
                      array_of(requests, holder_in),
                      array_of(requests, ttl_in),
                      at_most};
}

}  // namespace rowlock::postgres

#endif
