// What must hold after a run, whatever went wrong in it.
#include "faults/checkers.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace rowlock::tests {

namespace {

template <class... Parts>
std::string line(Parts... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class Order>
std::map<int, std::vector<entry>> by_key(const std::vector<entry>& entries, const Order& order) {
  std::map<int, std::vector<entry>> sorted;
  for (const auto& each : entries) sorted[each.key].push_back(each);
  for (auto& [key, of_key] : sorted) std::ranges::sort(of_key, {}, order);
  return sorted;
}

/// Appends a line for each entry whose version is not above that of the one before.
void check_that_versions_rise(const std::vector<entry>& entries, std::vector<std::string>& found) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const auto& before = entries[i - 1];
    const auto& after = entries[i];
    if (before.version < after.version) continue;
    found.push_back(
        line("key ", after.key, ": version ", after.version, " came after ", before.version));
  }
}

std::set<std::pair<int, version>> committed_in(const history& seen) {
  std::set<std::pair<int, version>> committed;
  for (const auto& each : seen.entries) committed.emplace(each.key, each.version);
  return committed;
}

}  // namespace

std::vector<std::string> lost_commits(const history& seen) {
  const auto committed = committed_in(seen);
  std::vector<std::string> found;
  for (const auto& each : seen.beliefs) {
    if (!each.acknowledged || committed.contains({each.key, each.version})) continue;
    found.push_back(line("key ", each.key, ": the commit that was reported to ", each.version,
                         " is not there"));
  }
  return found;
}

std::vector<std::string> lost_updates(const history& seen) {
  std::map<int, std::int64_t> increments;
  for (const auto& [key, value] : seen.counters) increments[key] = 0;
  for (const auto& each : seen.entries) {
    if (each.counted) ++increments[each.key];
  }
  std::vector<std::string> found;
  for (const auto& [key, expected] : increments) {
    const auto counter = seen.counters.find(key);
    const auto value = counter == seen.counters.end() ? 0 : counter->second;
    if (value == expected) continue;
    found.push_back(
        line("key ", key, ": ", expected, " increments were committed, the counter is ", value));
  }
  return found;
}

std::vector<std::string> versions_out_of_order(const history& seen) {
  std::vector<std::string> found;
  for (auto [key, entries] : by_key(seen.entries, &entry::place)) {
    std::erase_if(entries, [](const entry& each) { return !each.place; });
    check_that_versions_rise(entries, found);
  }
  // The writer of n + 1 has read n, so n was committed before.
  for (auto [key, entries] : by_key(seen.entries, &entry::counted)) {
    std::erase_if(entries, [](const entry& each) { return !each.counted; });
    check_that_versions_rise(entries, found);
  }
  return found;
}

std::vector<std::string> commits_after_takeover(const history& seen) {
  std::vector<std::string> found;
  for (const auto& [key, entries] : by_key(seen.entries, &entry::version)) {
    for (const auto& each : entries) {
      if (!each.smaller) continue;
      const auto first = std::ranges::lower_bound(entries, each.version, {}, &entry::version);
      const auto now = first - entries.begin();
      if (now == *each.smaller) continue;
      found.push_back(line("key ", key, ": the holder of ", each.version, " saw ", *each.smaller,
                           " entries of smaller versions, and now there are ", now));
    }
  }
  return found;
}

std::vector<std::string> overlapping_beliefs(const history& seen) {
  const auto committed = committed_in(seen);
  auto beliefs = seen.beliefs;
  std::erase_if(beliefs, [&](const believed& each) {
    if (each.begin == each.end) return true;  // it was over before the first check
    return each.kind == possession_kind::row_lock && !committed.contains({each.key, each.version});
  });
  std::ranges::sort(beliefs, {}, [](const believed& each) {
    return std::tuple{each.key, each.begin};
  });

  std::vector<std::string> found;
  const believed* longest = nullptr;
  for (const auto& each : beliefs) {
    if (longest != nullptr && longest->key == each.key && each.begin < longest->end) {
      const auto both = std::chrono::duration_cast<std::chrono::microseconds>(
          std::min(longest->end, each.end) - each.begin);
      found.push_back(line("key ", each.key, ": version ", each.version,
                           " was believed to be held ", both.count(), " us long while ",
                           longest->version, " was"));
    }
    if (longest == nullptr || longest->key != each.key || longest->end < each.end) longest = &each;
  }
  return found;
}

}  // namespace rowlock::tests
