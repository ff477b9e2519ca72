// Acquiring sets of rows on MariaDB or MySQL: all or none, or any.
#include <algorithm>
#include <utility>

#include "mysql/acquire.hpp"
#include "mysql/sql/leases.hpp"
namespace rowlock::mysql {

void acquire_call::withhold(const places& chosen) {
  for (const auto place : chosen) answers_[place] = {.status = acquire_status::withheld};
}

void acquire_call::withhold_what_is_not_granted() {
  for (auto& answer : answers_) {
    if (answer.status != acquire_status::granted) answer = {.status = acquire_status::withheld};
  }
}

void acquire_call::set_granted(std::size_t place, std::uint64_t now) {
  const auto by_the_clock = static_cast<std::int64_t>(now);
  answers_[place] = granted(place, {std::max(seen_version(place) + 1, by_the_clock)});
}

std::vector<acquire_answer> acquire_call::run_for_all() && {
  seen_.resize(requests_.size());
  read_rows(everything(), false);
  if (mine_.size() + takeable_.size() + missing_.size() < requests_.size()) {
    for (const auto* others : {&mine_, &takeable_, &missing_}) withhold(*others);
  } else if (!grant_all()) {
    find_refusals();
  }
  return std::move(answers_);
}

bool acquire_call::grant_all() {
  json_rows grants;
  for (const auto* fresh : {&takeable_, &missing_}) {
    for (const auto place : *fresh) grants.add(grant_of(place).number(0));
  }
  for (const auto place : mine_) grants.add(grant_of(place).number(1));
  places existing = takeable_;
  existing.insert(existing.end(), mine_.begin(), mine_.end());

  const auto written =
      exec_.write_all_or_none(sql::grant_all, grants, skew_.count(), at_versions(existing));
  if (!written) return false;
  for (const auto* fresh : {&takeable_, &missing_}) {
    for (const auto place : *fresh) set_granted(place, written->insert_id);
  }
  for (const auto place : mine_) answers_[place].status = acquire_status::granted;
  return true;
}

void acquire_call::find_refusals() {
  for (auto* seen_before : {&mine_, &takeable_, &missing_}) seen_before->clear();
  answers_.assign(requests_.size(), {});
  seen_.assign(requests_.size(), std::nullopt);
  read_rows(everything(), false);
  places open = takeable_;
  open.insert(open.end(), mine_.begin(), mine_.end());
  const auto free = exec_.unlocked_of(at_versions(open));
  // The transaction in the way may have ended: then all are answered as busy, as they were.
  if (missing_.size() + free.size() == requests_.size()) return;
  withhold(missing_);
  for (const auto at : free) withhold({open[at]});
}

std::vector<acquire_answer> acquire_call::run_for_any(std::size_t at_most) && {
  seen_.resize(requests_.size());
  read_rows(everything(), false);
  const auto wanted = [&] {
    const auto granted = std::count_if(answers_.begin(), answers_.end(), [](const auto& answer) {
      return answer.status == acquire_status::granted;
    });
    return at_most - static_cast<std::size_t>(granted);
  };
  if (mine_.size() > at_most) mine_.resize(at_most);
  if (!mine_.empty()) adopt();
  if (!takeable_.empty() && wanted() > 0) take_some(wanted());
  if (missing_.size() > wanted()) missing_.resize(wanted());
  if (!missing_.empty()) insert();
  withhold_what_is_not_granted();
  return std::move(answers_);
}

void acquire_call::take_some(std::size_t at_most) {
  const auto written =
      exec_.write_unlocked(sql::have_some_at_version, at_versions(takeable_), sql::take_many,
                           grants_of(takeable_), skew_.count(), at_most);
  places taken;
  for (const auto at : written.places) taken.push_back(takeable_[at]);
  if (written.affected == taken.size()) {
    for (const auto place : taken) set_granted(place, written.insert_id);
    return;
  }
  // The holder of an expired lease has renewed it in between.
  const auto now = exec_.read(keys_of(taken));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const bool is_ours = now[i] && now[i]->owner == requests_[taken[i]].owner.text;
    if (is_ours) answers_[taken[i]] = granted(taken[i], now[i]->state.version);
  }
}

}  // namespace rowlock::mysql
