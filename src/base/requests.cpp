// Checks of requests.
#include "rowlock/port/requests.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string>

#include "base/database_time.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock {

namespace {

void check_ttl(std::chrono::microseconds ttl) {
  if (ttl <= std::chrono::microseconds::zero()) {
    throw error{errc::misuse, "the ttl is not above zero: a lease must last some time"};
  }
  if (ttl > longest_ttl) {
    throw error{errc::misuse, "the ttl is above 24 hours: make it short and let it be renewed"};
  }
}

void check_text(const std::string& text, const char* name, std::size_t longest) {
  if (text.size() > longest) {
    throw error{errc::misuse, std::string{name} + " has more than " + std::to_string(longest) +
                                  " bytes: shorten it"};
  }
  if (text.find('\0') != std::string::npos || !detail::is_valid_utf8(text)) {
    throw error{errc::misuse, std::string{name} + " must be valid UTF-8 without NUL"};
  }
}

constexpr std::size_t longest_label = 128;
constexpr std::size_t longest_note = 1024;

}  // namespace

void detail::check_hold(std::chrono::microseconds stay_closed) {
  if (stay_closed < std::chrono::microseconds::zero() || stay_closed > longest_ttl) {
    throw error{errc::misuse,
                "how long a key stays closed (hold_at_least) must be between zero and 24 hours"};
  }
}

void check(const acquire_request& request) {
  check(request.key);
  check_ttl(request.ttl);
  check_text(request.holder, "the holder label", longest_label);
  check_text(request.correlation_id, "the correlation id", longest_label);
}

void check_set(std::span<const acquire_request> requests) {
  if (requests.size() > largest_set) {
    throw error{errc::misuse,
                "the set has more than " + std::to_string(largest_set) + " keys: split it"};
  }
  std::set<lock_key> keys;
  for (const auto& request : requests) {
    check(request);
    if (!keys.insert(request.key).second) {
      throw error{errc::misuse, "two requests of the set are for one key: ask for it once"};
    }
  }
}

void check(const renew_request& request) {
  check(request.key);
  check_ttl(request.ttl);
}

void check(const release_request& request) {
  constexpr std::chrono::hours longest_done{24 * 3653};
  check(request.key);
  detail::check_hold(request.stay_closed);
  if (request.done_for && (*request.done_for <= std::chrono::microseconds::zero() ||
                           *request.done_for > longest_done)) {
    throw error{errc::misuse,
                "how long work is remembered as done must be above zero, and at most ten years"};
  }
}

void check(const handoff_request& request) {
  check(request.ended);
  check(request.next);
  if (request.ended.key != request.next.key) {
    throw error{errc::misuse, "a row is handed over to one who waits for another key"};
  }
  const bool stays = request.ended.stay_closed.count() != 0 || request.ended.done_for;
  if (stays || request.next.expected || request.next.unless_done) {
    throw error{
        errc::misuse,
        "a row that stays closed, is remembered as done, or is wanted on a condition cannot "
        "be handed over: release it"};
  }
}

void check(const note_request& request) {
  check(request.key);
  check_text(request.note, "the note", longest_note);
}

void check(const ask_request& request) {
  check(request.key);
  check_text(request.by, "the holder label", longest_label);
  if (request.reason.empty()) {
    throw error{errc::misuse, "a holder is asked to yield for a reason: give one"};
  }
  check_text(request.reason, "the reason", longest_note);
}

void check(const force_request& request) {
  check(request.key);
  if (request.reason.empty()) {
    throw error{errc::misuse, "a key is taken away by force for a reason: give one"};
  }
  check_text(request.reason, "the reason", longest_note);
}

void check(const purge_request& request) {
  constexpr std::chrono::hours youngest{1};
  constexpr std::size_t most = 10'000;
  if (request.after) check(*request.after);
  if (request.older_than < youngest) {
    throw error{
        errc::misuse,
        "rows that are younger than an hour are not purged: give an hour or more. A row that comes "
        "back soon needs its version, if the clock was set back in between"};
  }
  if (request.limit == 0 || request.limit > most) {
    throw error{errc::misuse, "a purge looks at 1 to 10,000 rows at a time"};
  }
}

void check(const list_request& request) {
  // Any id will do: only the type is checked.
  if (request.type) check(lock_key{.type = *request.type, .source_id = "1"});
  if (request.holder) check_text(*request.holder, "the holder label", longest_label);
  if (request.after) check(*request.after);
  if (request.after && request.sort != row_order::key) {
    throw error{
        errc::misuse,
        "only a list by key goes on after a key: sort by key, or ask for more rows at once"};
  }
  if (request.limit && (*request.limit == 0 || *request.limit > largest_page)) {
    throw error{errc::misuse,
                "a list has 1 to 10,000 rows, or all: ask for less, and go on after the last key"};
  }
}

void check(const history_request& request) {
  constexpr std::array<std::string_view, 11> kinds{"granted", "released", "failed",   "handed over",
                                                   "forced",  "ran out",  "closed",   "done",
                                                   "asked",   "locked",   "committed"};
  if (request.type) check(lock_key{*request.type, "1"});
  if (request.source_id) check(lock_key{"type", *request.source_id});
  if (request.holder) check_text(*request.holder, "the holder label", longest_label);
  if (request.what && std::find(kinds.begin(), kinds.end(), *request.what) == kinds.end()) {
    throw error{errc::misuse,
                "no event has this name: ask for granted, released, failed, handed over, forced, "
                "ran out, closed, done, asked, locked or committed"};
  }
  const auto is_shown = [](const std::optional<database_time>& time) {
    return !time || (*time >= database_time{} && *time <= detail::last_database_time);
  };
  if (!is_shown(request.since) || !is_shown(request.until)) {
    throw error{errc::misuse, "events are of the years 1970 to 9999: ask for a time in them"};
  }
  if (request.since && request.until && *request.since > *request.until) {
    throw error{errc::misuse, "`since` is after `until`: give an earlier `since`"};
  }
  if (request.limit == 0 || request.limit > largest_page) {
    throw error{errc::misuse, "a page of events has 1 to 10,000 of them"};
  }
}

void check(const history_purge_request& request) {
  if (request.older_than < std::chrono::hours{1}) {
    throw error{errc::misuse,
                "events that are younger than an hour are not purged: give an hour or more"};
  }
  if (request.limit == 0 || request.limit > largest_page) {
    throw error{errc::misuse, "a purge deletes 1 to 10,000 events at a time"};
  }
}

}  // namespace rowlock
