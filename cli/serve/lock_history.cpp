// The history of locks: the one place where serve and report read it.
#include "cli/serve/lock_history.hpp"

#include <nlohmann/json.hpp>

namespace rowlock::cli {

using nlohmann::ordered_json;

std::string history_query::text() const {
  return "since " + (since ? to_rfc3339(*since) : "ever") + ", before " +
         (before ? std::to_string(*before) : "none") + ", limit " + std::to_string(limit);
}

ordered_json read_history(store& /*rows*/, const history_query& /*query*/,
                          const database_clock& clock) {
  return {{"at", to_rfc3339(clock.now())},
          {"has_history", false},
          {"next", nullptr},
          {"events", ordered_json::array()}};
}

ordered_json read_whole_history(store& rows, database_time since, const database_clock& clock) {
  constexpr std::size_t most = 200'000;
  history_query query{.since = since};
  ordered_json all = read_history(rows, query, clock);
  ordered_json next = all["next"];
  while (!next.is_null() && all["events"].size() < most) {
    query.before = next.get<std::int64_t>();
    ordered_json page = read_history(rows, query, clock);
    for (auto& event : page["events"]) all["events"].push_back(std::move(event));
    next = page["next"];
  }
  all["next"] = nullptr;
  return all;
}

}  // namespace rowlock::cli
