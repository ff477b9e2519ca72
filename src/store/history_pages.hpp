// The events of a page, from two lists: the ends of holds and other uses, and the grants.
#ifndef ROWLOCK_STORE_HISTORY_PAGES_HPP
#define ROWLOCK_STORE_HISTORY_PAGES_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/database_time.hpp"
#include "rowlock/port/requests.hpp"
#include "store/rendered_sql.hpp"

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

/// The statements of both lists, as words of a rendering: for one key by its index, and for any by
/// time.
struct history_texts {
  std::string_view others_of_key;
  std::string_view others_by_time;
  std::string_view grants_of_key;
  std::string_view grants_by_time;
};

inline constexpr history_texts events_of_page{.others_of_key = "{others_of_key}",
                                              .others_by_time = "{others_by_time}",
                                              .grants_of_key = "{grants_of_key}",
                                              .grants_by_time = "{grants_by_time}"};

/// They find the time of the last event of the page.
inline constexpr history_texts last_of_page{.others_of_key = "{last_of_others_of_key}",
                                            .others_by_time = "{last_of_others_by_time}",
                                            .grants_of_key = "{last_of_grants_of_key}",
                                            .grants_by_time = "{last_of_grants_by_time}"};

/// A database's texts, in which {of_key} stands for which keys, and {newest_grants} for an order.
struct history_sql {
  struct keys {
    std::string_view of_key;
    std::string_view newest_grants;
  };

  std::string_view others;
  std::string_view grants;
  std::string_view last_of_others = {};
  std::string_view last_of_grants = {};
  keys of_one;
  keys of_any;
  /// Further words of the texts.
  sql_words words;
};

/// Adds the words of `events_of_page` and `last_of_page`.
inline void add_history(sql_words& words, const history_sql& sql) {
  const auto add = [&](std::string_view of_key, std::string_view by_time, std::string_view text) {
    for (const auto& [name, keys] :
         {std::pair{of_key, sql.of_one}, std::pair{by_time, sql.of_any}}) {
      auto known = sql.words;
      known["of_key"] = keys.of_key;
      known["newest_grants"] = keys.newest_grants;
      words[name] = with_words(text, known);
    }
  };
  add("others_of_key", "others_by_time", sql.others);
  add("grants_of_key", "grants_by_time", sql.grants);
  add("last_of_others_of_key", "last_of_others_by_time", sql.last_of_others);
  add("last_of_grants_of_key", "last_of_grants_by_time", sql.last_of_grants);
}

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

/// The same in two statements for each list: first the time of the last event, so that the events
/// are read from there on. `find` executes a text for a request, with a limit, and returns its
/// rows.
template <class Find, class MicrosecondsIn, class EventIn>
history_page page_by_time(const history_request& request, const Find& find,
                          const MicrosecondsIn& microseconds_in, const EventIn& event_in) {
  return page_of(request, [&](auto which) {
    const auto limit = static_cast<std::int64_t>(request.limit);
    auto from_last = request;
    for (const auto& row : find(last_of_page.*which, request, limit - 1)) {
      from_last.since = database_time{std::chrono::microseconds{microseconds_in(row)}};
    }
    std::vector<lock_event> events;
    for (const auto& row : find(events_of_page.*which, from_last, limit)) {
      events.push_back(event_in(row));
    }
    return events;
  });
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
