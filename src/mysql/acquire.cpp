// One call of acquire on MariaDB or MySQL: rows each by itself, and sets.
#include "mysql/acquire.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "mysql/sql/leases.hpp"

namespace rowlock::mysql {

namespace {

/// One call of acquire, with its answers so far.
class acquire_call {
 public:
  acquire_call(executor& exec, std::span<const acquire_request> requests,
               std::chrono::microseconds skew, renew_call renew)
      : exec_{exec},
        requests_{requests},
        skew_{skew},
        renew_{std::move(renew)},
        answers_(requests.size()) {}

  std::vector<acquire_answer> run() && {
    seen_.resize(requests_.size());
    const bool alone = requests_.size() == 1 && exec_.answers_at_once();
    if (alone && take_if_unowned()) return std::move(answers_);

    read_rows(everything(), alone);
    adopt();
    if (!takeable_.empty()) take();
    if (!missing_.empty()) insert();
    return std::move(answers_);
  }

  /// Two round trips for a set that is granted, whether or not its rows exist. One for a set that
  /// is refused at the first read, four if another transaction was in the way after that read.
  /// (MySQL: five, one and six.)
  std::vector<acquire_answer> run_for_all() && {
    seen_.resize(requests_.size());
    read_rows(everything(), false);
    if (mine_.size() + takeable_.size() + missing_.size() < requests_.size()) {
      for (const auto* others : {&mine_, &takeable_, &missing_}) withhold(*others);
    } else if (!grant_all()) {
      find_refusals();
    }
    return std::move(answers_);
  }

  /// Five round trips, or one if no row is free; two more for missing rows.
  std::vector<acquire_answer> run_for_any(std::size_t at_most) && {
    seen_.resize(requests_.size());
    read_rows(everything(), false);
    const auto wanted = [&] {
      const auto granted = std::count_if(answers_.begin(), answers_.end(), [](const auto& answer) {
        return answer.status == acquire_status::granted;
      });
      return at_most - static_cast<std::size_t>(granted);
    };
    if (mine_.size() > at_most) mine_.resize(at_most);
    adopt();
    if (!takeable_.empty() && wanted() > 0) take_some(wanted());
    if (missing_.size() > wanted()) missing_.resize(wanted());
    if (!missing_.empty()) insert();
    withhold_what_is_not_granted();
    return std::move(answers_);
  }

 private:
  using places = std::vector<std::size_t>;

  [[nodiscard]] places everything() const {
    places all(requests_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  bool take_if_unowned() {
    const auto result = write_if_unowned(requests_.front());
    if (!result || result->affected == 0) return false;
    const bool has_read = exec_.hides_insert_ids();
    grant(0, has_read ? std::stoull(result->rows.at(0).at(0).value()) : result->insert_id);
    return true;
  }

  /// Sends the statement that grants an unowned row.
  std::optional<result_set> write_if_unowned(const acquire_request& request) {
    const auto& [key, owner, holder, ttl, expected, unless_done, correlation_id, never_waits] =
        request;
    if (!expected && !unless_done && !exec_.hides_insert_ids()) {
      return exec_.write(sql::acquire_free,
                         {bound_value::ascii(key.type), bound_value::bytes(key.source_id),
                          bound_value::ascii(owner.text), bound_value::utf8(holder), ttl.count(),
                          skew_.count(), bound_value::utf8_or_null(correlation_id)});
    }
    const std::initializer_list<bound_value> values{
        bound_value::ascii(key.type),
        bound_value::bytes(key.source_id),
        bound_value::ascii(owner.text),
        bound_value::utf8(holder),
        ttl.count(),
        expected ? std::optional{expected->number} : std::nullopt,
        unless_done ? 1 : 0,
        skew_.count(),
        bound_value::utf8_or_null(correlation_id)};
    return exec_.hides_insert_ids() ? exec_.write_block(sql::acquire_and_read, values)
                                    : exec_.write(sql::acquire, values);
  }

  /// Sets the answer after a statement has written the row and returned `insert_id`.
  void grant(std::size_t place, std::uint64_t insert_id) {
    std::optional made{version{static_cast<std::int64_t>(insert_id)}};
    if (insert_id == 0) {
      exec_.set_hides_insert_ids();
      const auto seen = exec_.read(keys_of({place})).front();
      if (!seen || !seen->is_of(requests_[place].owner)) return;  // the grant has expired already
      made = seen->state.version;
    }
    answers_[place] = {.status = acquire_status::granted, .version = made};
  }

  [[nodiscard]] key_list keys_of(const places& chosen) const {
    key_list keys;
    keys.reserve(chosen.size());
    for (const auto place : chosen) keys.push_back(&requests_[place].key);
    return keys;
  }

  /// Fills in the answers that a read can give.
  void read_rows(const places& open, bool unowned_are_busy) {
    auto seen = exec_.read(keys_of(open));
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto place = open[i];
      const auto& request = requests_[place];
      auto& answer = answers_[place];
      if (auto refused = detail::refusal_of(seen[i], request, skew_)) {
        answer = *std::move(refused);
      } else if (!seen[i]) {
        missing_.push_back(place);
        continue;
      } else {
        answer = {.version = seen[i]->state.version};  // busy, unless it is granted
        if (seen[i]->is_live_and_of(request.owner)) {
          mine_.push_back(place);
        } else if (seen[i]->state.owned || !unowned_are_busy) {
          takeable_.push_back(place);
        }
      }
      seen_[place] = std::move(seen[i]);
    }
  }

  /// The version that was read; zero for a missing row.
  [[nodiscard]] std::int64_t seen_version(std::size_t place) const {
    return seen_[place] ? seen_[place]->state.version.number : 0;
  }

  [[nodiscard]] json_rows at_versions(const places& chosen) const {
    json_rows rows;
    for (const auto place : chosen) {
      rows.add(row_of(requests_[place].key).number(seen_version(place)));
    }
    return rows;
  }

  /// The parameters of a grant of the row as it was read.
  [[nodiscard]] json_rows::row grant_of(std::size_t place) const {
    const auto& request = requests_[place];
    auto row = row_of(request.key);
    row.number(seen_version(place))
        .hex(request.owner.text)
        .hex(request.holder)
        .number(request.ttl.count())
        .hex(request.correlation_id);
    return row;
  }

  [[nodiscard]] json_rows grants_of(const places& chosen) const {
    json_rows rows;
    for (const auto place : chosen) rows.add(grant_of(place));
    return rows;
  }

  /// The answer to a request that was granted its row at version `now`.
  [[nodiscard]] acquire_answer granted(std::size_t place, version now) const {
    acquire_answer answer{.status = acquire_status::granted, .version = now};
    const auto& before = seen_[place];
    if (!before || !before->state.owned || before->is_of(requests_[place].owner)) return answer;
    answer.took_over_expired = true;
    answer.holder = before->state.holder;
    answer.remaining = before->state.remaining;
    return answer;
  }

  void take() {
    const auto to_write = grants_of(takeable_);
    const bound_value skew{skew_.count()};
    if (!exec_.answers_at_once() || !exec_.write(sql::take_many, {to_write.value(), skew})) {
      exec_.write_unlocked(sql::have_many_at_version, at_versions(takeable_), sql::take_many,
                           to_write, skew);
    }
    const auto now = exec_.read(keys_of(takeable_));
    for (std::size_t i = 0; i < takeable_.size(); ++i) {
      const auto& request = requests_[takeable_[i]];
      auto& answer = answers_[takeable_[i]];
      if (!now[i]) continue;
      if (!now[i]->is_live_and_of(request.owner)) {
        answer = detail::refusal_of(now[i], request, skew_)
                     .value_or(acquire_answer{.version = now[i]->state.version});
        continue;
      }
      answer = granted(takeable_[i], now[i]->state.version);
    }
  }

  bool insert_one(std::size_t place) {
    const auto& [key, owner, holder, ttl, expected, unless_done, correlation_id, never_waits] =
        requests_[place];
    const auto result =
        exec_.write(sql::insert, {bound_value::ascii(key.type), bound_value::bytes(key.source_id),
                                  bound_value::ascii(owner.text), bound_value::utf8(holder),
                                  ttl.count(), bound_value::utf8_or_null(correlation_id)});
    if (!result) return false;
    grant(place, result->insert_id);
    return true;
  }

  void insert() {
    places open = std::exchange(missing_, {});
    if (open.size() > 1) {
      json_rows rows;
      for (const auto place : open) {
        const auto& request = requests_[place];
        rows.add(row_of(request.key)
                     .hex(request.owner.text)
                     .hex(request.holder)
                     .number(request.ttl.count())
                     .hex(request.correlation_id));
      }
      if (exec_.write(sql::insert_many, {rows.value()})) {
        const auto now = exec_.read(keys_of(open));
        for (std::size_t i = 0; i < open.size(); ++i) {
          if (!now[i] || !now[i]->is_of(requests_[open[i]].owner)) continue;
          answers_[open[i]] = {.status = acquire_status::granted, .version = now[i]->state.version};
        }
        return;
      }
    }
    // One by one, so that a row which another transaction creates at this moment blocks only its
    // own key.
    std::erase_if(open, [this](std::size_t place) { return insert_one(place); });
    if (!open.empty()) read_rows(open, true);
  }

  void adopt() {
    detail::earlier_grants granted;
    for (const auto place : mine_) granted.add(requests_[place], answers_[place]);
    granted.adopt(renew_);
  }

  void withhold(const places& chosen) {
    for (const auto place : chosen) answers_[place] = {.status = acquire_status::withheld};
  }

  void withhold_what_is_not_granted() {
    for (auto& answer : answers_) {
      if (answer.status != acquire_status::granted) answer = {.status = acquire_status::withheld};
    }
  }

  /// Sets the answer after a grant of several rows at `now`, by the database's clock.
  void set_granted(std::size_t place, std::uint64_t now) {
    const auto by_the_clock = static_cast<std::int64_t>(now);
    answers_[place] = granted(place, {std::max(seen_version(place) + 1, by_the_clock)});
  }

  bool grant_all() {
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
      if (written->insert_id == 0) {
        set_granted_as_read(*fresh);
      } else {
        for (const auto place : *fresh) set_granted(place, written->insert_id);
      }
    }
    for (const auto place : mine_) answers_[place].status = acquire_status::granted;
    return true;
  }

  void find_refusals() {
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

  void take_some(std::size_t at_most) {
    const auto written =
        exec_.write_unlocked(sql::have_some_at_version, at_versions(takeable_), sql::take_many,
                             grants_of(takeable_), skew_.count(), at_most);
    places taken;
    for (const auto at : written.places) taken.push_back(takeable_[at]);
    if (written.affected == taken.size() && written.insert_id != 0) {
      for (const auto place : taken) set_granted(place, written.insert_id);
      return;
    }
    set_granted_as_read(taken);  // perhaps the holder of an expired lease has renewed it in between
  }

  /// The same by a read: some may not be granted, or a trigger has hidden the time.
  void set_granted_as_read(const places& written) {
    if (written.empty()) return;
    const auto now = exec_.read(keys_of(written));
    for (std::size_t i = 0; i < written.size(); ++i) {
      const bool is_ours = now[i] && now[i]->owner == requests_[written[i]].owner.text;
      if (is_ours) answers_[written[i]] = granted(written[i], now[i]->state.version);
    }
  }

  executor& exec_;
  std::span<const acquire_request> requests_;
  std::chrono::microseconds skew_;
  renew_call renew_;
  std::vector<acquire_answer> answers_;        // busy, until more is known
  places missing_;                             // to be inserted
  places mine_;                                // granted by an earlier call
  places takeable_;                            // unowned, or expired
  std::vector<std::optional<seen_row>> seen_;  // by place
};

}  // namespace

std::vector<acquire_answer> acquire(executor& exec, std::span<const acquire_request> requests,
                                    acquire_mode mode, std::chrono::microseconds skew,
                                    renew_call renew) {
  acquire_call call{exec, requests, skew, std::move(renew)};
  switch (mode.how) {
    case acquire_mode::all_or_none:
      return std::move(call).run_for_all();
    case acquire_mode::any:
      return std::move(call).run_for_any(mode.limit);
    case acquire_mode::each:
      break;
  }
  return std::move(call).run();
}

}  // namespace rowlock::mysql
