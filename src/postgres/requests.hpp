// The parameters of statements from requests, and the answers from result rows.
#ifndef ROWLOCK_POSTGRES_REQUESTS_HPP
#define ROWLOCK_POSTGRES_REQUESTS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/executor.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/values.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// Pointers to the requests without an answer yet; not owned.
template <class Request>
using unanswered = std::vector<const Request*>;

template <class Request>
unanswered<Request> all(std::span<const Request> requests) {
  unanswered<Request> pointers;
  pointers.reserve(requests.size());
  for (const auto& request : requests) pointers.push_back(&request);
  return pointers;
}

/// Removes the requests of `changed` from `sent`, by index. Throws `error` (rejected) if a row was
/// changed twice.
template <class Request, class Act>
void take_out(unanswered<Request>& sent, const std::vector<changed_row>& changed, const Act& act) {
  for (const auto& each : changed) {
    if (each.index >= sent.size() || sent[each.index] == nullptr) throw_two_rows_of_a_key();
    act(*sent[each.index], each);
    sent[each.index] = nullptr;
  }
  std::erase(sent, nullptr);
}

/// Notifies waiters of a change, by `text`. If that fails, the change is made nevertheless, and
/// they try from time to time anyway.
inline void announce(executor& exec, std::string_view text, const lock_key& key, version changed) {
  exec.hint(text, bound_values{types_of({&key}), ids_of({&key}),
                               array_of(std::array{changed.number}, std::identity{})});
}

/// The same of those of the changed rows that are watched.
template <class Request>
void announce(executor& exec, std::string_view text, const unanswered<Request>& sent,
              const std::vector<changed_row>& changed) {
  key_list keys;
  std::vector<std::int64_t> versions;
  for (const auto& each : changed) {
    if (!each.is_watched || each.index >= sent.size()) continue;
    keys.push_back(&sent[each.index]->key);
    versions.push_back(each.version.number);
  }
  if (keys.empty()) return;
  exec.hint(text, bound_values{types_of(keys), ids_of(keys), array_of(versions, std::identity{})});
}

template <class Request>
key_list keys_of(const unanswered<Request>& requests) {
  key_list keys;
  keys.reserve(requests.size());
  for (const auto* request : requests) keys.push_back(&request->key);
  return keys;
}

// Fields of a request, for `array_of`.

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
inline constexpr auto correlation_in = [](const acquire_request* request) {
  return std::string_view{request->correlation_id};
};
inline constexpr auto failed_in = [](const release_request* request) { return request->failed; };
inline constexpr auto stay_closed_in = [](const release_request* request) {
  return std::int64_t{request->stay_closed.count()};
};
inline constexpr auto done_for_in = [](const release_request* request) {
  return request->done_for ? std::optional{std::int64_t{request->done_for->count()}} : std::nullopt;
};
/// The same with 0 for none: an array of a transaction of the application, which may have turned
/// array_nulls off, has no nulls.
inline constexpr auto done_for_or_zero_in = [](const release_request* request) {
  return done_for_in(request).value_or(0);
};

/// Whether a release unsets the row and writes nothing else into it.
inline bool only_unsets(const release_request& request) {
  return !request.failed && request.stay_closed.count() == 0 && !request.done_for;
}

/// The values of `insert_many`. Without a limit, all are inserted.
inline bound_values values_to_insert(const unanswered<acquire_request>& requests,
                                     const std::optional<std::int64_t>& at_most) {
  const auto keys = keys_of(requests);
  return bound_values{types_of(keys),
                      ids_of(keys),
                      array_of(requests, owner_in),
                      array_of(requests, holder_in),
                      array_of(requests, ttl_in),
                      array_of(requests, correlation_in),
                      at_most,
                      sql::short_wait_ms};
}

/// Changes granted rows with `send`, which returns the rows that it changed. An unchanged row is
/// busy if it is still as it was granted, and lost otherwise.
template <class Request, class Send>
std::vector<change_answer> change_granted(executor& exec, std::span<const Request> requests,
                                          const Send& send) {
  std::vector<change_answer> answers(requests.size(), change_answer::busy);
  const auto answer_to = [&](const Request& request) -> change_answer& {
    return answers[static_cast<std::size_t>(&request - requests.data())];
  };
  exec.unless_contended([&] {
    auto open = all(requests);
    take_out(open, send(open), [&](const Request& request, const changed_row&) {
      answer_to(request) = change_answer::done;
    });
    if (open.empty()) return;
    const auto seen = exec.read(keys_of(open));
    for (std::size_t i = 0; i < open.size(); ++i) {
      answer_to(*open[i]) = detail::busy_or_lost(seen[i], *open[i]);
    }
  });
  return answers;
}

}  // namespace rowlock::postgres

#endif
