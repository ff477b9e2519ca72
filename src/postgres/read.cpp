// Reading rows on PostgreSQL.
#include "postgres/read.hpp"

#include <chrono>
#include <utility>

namespace rowlock::postgres {

namespace {

bool needs_preparing(const std::optional<seen_row>& row, std::chrono::milliseconds skew) {
  return !row || (row->state.owned && row->can_be_taken(skew));
}

}  // namespace

std::vector<std::optional<row_state>> read(store_call& asking, std::span<const lock_key> keys) {
  return detail::states_of(asking.look(list_of(keys)));
}

std::vector<std::optional<row_state>> prepare(store_call& asking, std::span<const lock_key> keys) {
  const auto wanted = list_of(keys);
  auto seen = asking.look(wanted);
  key_list unfit;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (needs_preparing(seen[i], asking.statements().clock_skew)) unfit.push_back(wanted[i]);
  }
  if (unfit.empty()) return detail::states_of(std::move(seen));
  asking.unless_contended([&] { asking.prepare(unfit); });
  return detail::states_of(asking.look(wanted));
}

std::vector<std::optional<row_state>> watch(store_call& asking, std::span<const lock_key> keys) {
  const auto watched = list_of(keys);
  auto seen = asking.look(watched);
  key_list unannounced;
  std::vector<version> versions;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i] || !seen[i]->state.is_live() || seen[i]->is_watched) continue;
    unannounced.push_back(watched[i]);
    versions.push_back(seen[i]->state.version);
  }
  if (!unannounced.empty()) {
    asking.unless_contended([&] {
      asking.leave_word(unannounced, array_of(versions, [](version v) { return v.number; }));
    });
  }
  return detail::states_of(std::move(seen));
}

}  // namespace rowlock::postgres
