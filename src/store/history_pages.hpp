// The events of a page, from two lists: the ends of holds and other uses, and the grants.
#ifndef ROWLOCK_STORE_HISTORY_PAGES_HPP
#define ROWLOCK_STORE_HISTORY_PAGES_HPP

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// The order of events; texts are compared byte by byte, as the statements do.
inline auto order_of(const lock_event& event) {
  return std::tie(event.at, event.key.type, event.key.source_id, event.version.number, event.what);
}

inline bool wants_grants(const history_request& request) {
  return !request.what || *request.what == "granted";
}
inline bool wants_others(const history_request& request) {
  return !request.what || *request.what != "granted";
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
  if (page.events.size() > request.at_most) page.events.resize(request.at_most);
  return page;
}

}  // namespace rowlock::detail

#endif
