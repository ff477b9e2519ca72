// The events of a page, from two lists: the ends of holds and other uses, and the grants.
#ifndef ROWLOCK_STORE_HISTORY_PAGES_HPP
#define ROWLOCK_STORE_HISTORY_PAGES_HPP

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/database_time.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// The order of events; texts are compared byte by byte, as the statements do.
inline auto order_of(const lock_event& event) {
  return std::tie(event.at, event.key.type, event.key.source_id, event.version.number, event.what);
}

/// The newest of both lists, each of which has its newest first.
inline history_page merged(std::vector<lock_event> others, std::vector<lock_event> grants,
                           const history_request& request) {
  history_page page{.events = {}, .is_recorded = true};
  page.events.reserve(others.size() + grants.size());
  std::merge(std::move_iterator{others.begin()}, std::move_iterator{others.end()},
             std::move_iterator{grants.begin()}, std::move_iterator{grants.end()},
             std::back_inserter(page.events), [](const lock_event& one, const lock_event& other) {
               return order_of(one) > order_of(other);
             });
  if (page.events.size() > request.limit) page.events.resize(request.limit);
  return page;
}

/// The statements of both lists: for one key by its index, and for any by time.
struct history_texts {
  std::string_view others_of_key;
  std::string_view others_by_time;
  std::string_view grants_of_key;
  std::string_view grants_by_time;
};

/// `read` executes one of the statements, of which it gets a pointer to the member, and returns its
/// events.
template <class Read>
history_page page_of(const history_request& request, const Read& read) {
  const bool is_of_key = request.type && request.source_id;
  std::vector<lock_event> others;
  std::vector<lock_event> grants;
  if (!request.what || *request.what != "granted") {
    others = read(is_of_key ? &history_texts::others_of_key : &history_texts::others_by_time);
  }
  if (!request.what || *request.what == "granted") {
    grants = read(is_of_key ? &history_texts::grants_of_key : &history_texts::grants_by_time);
  }
  return merged(std::move(others), std::move(grants), request);
}

/// The bounds of a request as microseconds since 1970; those that are not given are the widest.
inline std::int64_t since_of(const history_request& request) {
  return request.since.value_or(database_time{}).time_since_epoch().count();
}
inline std::int64_t until_of(const history_request& request) {
  return request.until.value_or(last_database_time).time_since_epoch().count();
}

}  // namespace rowlock::detail

#endif
