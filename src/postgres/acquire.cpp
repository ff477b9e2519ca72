// Acquiring rows on PostgreSQL, each by itself and in sets.
#include "postgres/acquire.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "postgres/requests.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/sql/sets.hpp"

namespace rowlock::postgres {

namespace {

std::vector<changed_row> insert_row(executor& exec, const acquire_request& request,
                                    std::int64_t wait_ms = sql::short_wait_ms) {
  std::vector<changed_row> inserted;
  exec.unless_being_created([&] {
    inserted =
        exec.write(sql::insert, bound_values{request.key.type, request.key.source_id,
                                             request.owner.text, request.holder, ttl_in(&request),
                                             text_or_null{request.correlation_id}, wait_ms});
  });
  return inserted;
}

/// Creates the rows that are missing; of more than `at_most`, if it is given, the first.
std::vector<changed_row> insert_rows(executor& exec, const unanswered<acquire_request>& open,
                                     const std::optional<std::int64_t>& at_most = {}) {
  std::vector<changed_row> inserted;
  const bool is_done = exec.unless_being_created(
      [&] { inserted = exec.write(sql::insert_many, values_to_insert(open, at_most)); });
  if (is_done) return inserted;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (at_most && std::ssize(inserted) == *at_most) break;
    for (auto row : insert_row(exec, *open[i], sql::wait_of_each_ms(i - inserted.size()))) {
      row.index = i;
      inserted.push_back(row);
    }
  }
  return inserted;
}

executor::row_answer take_row(executor& exec, const acquire_request& request) {
  auto taken = exec.take_row(
      sql::acquire, bound_values{request.key.type, request.key.source_id, request.owner.text,
                                 request.holder, ttl_in(&request), expected_in(&request),
                                 request.unless_done, text_or_null{request.correlation_id}});
  if (taken.is_watched) announce(exec, sql::announce_grants, request.key, *taken.answer->version);
  return taken;
}

std::optional<changed_row> take_free_row(executor& exec, const acquire_request& request) {
  const auto& key = request.key;
  auto granted = exec.write_unlocked(
      sql::acquire_free, bound_values{key.type, key.source_id, request.owner.text, request.holder,
                                      ttl_in(&request), text_or_null{request.correlation_id}});
  if (granted && granted->is_watched) {
    announce(exec, sql::announce_grants, key, granted->version);
  }
  return granted;
}

/// One call of acquire, with its answers so far. For a single key `take_row` was called before.
class acquiring {
 public:
  acquiring(executor& exec, std::span<const acquire_request> requests,
            std::vector<acquire_answer>& answers)
      : exec_{exec}, requests_{requests}, answers_{answers}, open_{all(requests)} {}

  /// `is_missing`: there was no row for the single key.
  void run(bool is_missing = false) {
    if (open_.size() > 1) grant(take_rows());
    if (is_missing && !open_.front()->expected) grant(insert());
    if (open_.empty()) return;
    const auto lost = read_the_others();
    if (!open_.empty()) grant(insert());
    // A faster transaction may have committed by now: then its holder is known.
    open_.insert(open_.end(), lost.begin(), lost.end());
    if (!open_.empty()) read_the_others();
  }

  [[nodiscard]] bool has_inserted() const { return has_inserted_; }

 private:
  acquire_answer& answer_to(const acquire_request& request) {
    return answers_[static_cast<std::size_t>(&request - requests_.data())];
  }

  void grant(const std::vector<changed_row>& granted) {
    take_out(open_, granted, [this](const acquire_request& request, const changed_row& done) {
      answer_to(request) = granted_by(done);
    });
  }

  std::vector<changed_row> take_rows() {
    const auto keys = keys_of(open_);
    auto taken =
        exec_.take_rows(sql::acquire_many,
                        bound_values{types_of(keys), ids_of(keys), array_of(open_, owner_in),
                                     array_of(open_, holder_in), array_of(open_, ttl_in),
                                     array_of(open_, expected_in), array_of(open_, unless_done_in),
                                     array_of(open_, correlation_in)});
    announce(exec_, sql::announce_grants, open_, taken);
    return taken;
  }

  std::vector<changed_row> insert() {
    auto inserted =
        open_.size() == 1 ? insert_row(exec_, *open_.front()) : insert_rows(exec_, open_);
    has_inserted_ = has_inserted_ || !inserted.empty();
    return inserted;
  }

  /// Keeps the requests of missing rows open. Returns the requests whose rows seem free, but are
  /// locked by another transaction.
  unanswered<acquire_request> read_the_others() {
    unanswered<acquire_request> seem_free;
    const auto seen = exec_.read(keys_of(open_));
    unanswered<acquire_request> missing;
    detail::earlier_grants mine;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const auto& request = *open_[i];
      auto& answer = answer_to(request);
      if (auto refused = detail::refusal_of(seen[i], request, exec_.clock_skew())) {
        answer = *std::move(refused);
      } else if (!seen[i]) {
        missing.push_back(&request);
      } else {
        answer = {.version = seen[i]->state.version};  // busy
        if (!seen[i]->is_live_and_of(request.owner)) {
          seem_free.push_back(&request);
          continue;
        }
        mine.add(request, answer);
      }
    }
    open_ = std::move(missing);
    mine.adopt([this](auto some) { return renew(exec_, some); });
    return seem_free;
  }

  executor& exec_;
  std::span<const acquire_request> requests_;
  std::vector<acquire_answer>& answers_;
  unanswered<acquire_request> open_;
  bool has_inserted_ = false;
};

/// The answer of a statement that does nothing else; none if `sql::acquire` has to follow.
std::optional<acquire_answer> quick_answer(executor& exec, found_row last,
                                           const acquire_request& request) {
  if (request.expected || request.unless_done || request.never_waits) return std::nullopt;
  switch (last) {
    case found_row::free:
      if (const auto granted = take_free_row(exec, request)) return granted_by(*granted);
      break;
    case found_row::missing:
      if (const auto granted = insert_row(exec, request); !granted.empty()) {
        return granted_by(granted.front());
      }
      break;
    case found_row::held:
      return exec.holder(sql::see_holder,
                         bound_values{request.key.type, request.key.source_id, request.owner.text});
    case found_row::other:
      break;
  }
  return std::nullopt;
}

found_row found_in(const acquire_answer& answer) {
  return answer.status == acquire_status::granted ? found_row::free : found_row::held;
}

acquire_answer acquire_one(executor& exec, found_row& last, const acquire_request& request) {
  if (auto answer = quick_answer(exec, last, request)) return *std::move(answer);
  auto taken = take_row(exec, request);
  if (taken.answer) {
    last = found_in(*taken.answer);
    return *std::move(taken.answer);
  }
  std::vector<acquire_answer> answers(1);
  acquiring one{exec, std::span{&request, 1}, answers};
  one.run(taken.is_missing);
  last = one.has_inserted() ? found_row::missing : found_row::other;
  return std::move(answers.front());
}

}  // namespace

std::vector<acquire_answer> acquire(executor& exec, last_found& found,
                                    std::span<const acquire_request> requests) {
  std::vector<acquire_answer> answers(requests.size());  // busy, until more is known
  exec.unless_contended([&] {
    if (requests.size() > 1) return acquiring{exec, requests, answers}.run();
    const auto& request = requests.front();
    answers.front() = acquire_one(exec, found.of(request.key.type), request);
  });
  return answers;
}

std::vector<change_answer> renew(executor& exec, std::span<const renew_request> requests) {
  return change_granted(exec, requests, [&](const unanswered<renew_request>& open) {
    if (open.size() == 1) {
      const auto& request = *open.front();
      return exec.write(sql::renew,
                        bound_values{request.key.type, request.key.source_id, request.owner.text,
                                     request.version.number, std::int64_t{request.ttl.count()}});
    }
    const auto keys = keys_of(open);
    return exec.write(sql::renew_many,
                      bound_values{types_of(keys), ids_of(keys), array_of(open, owner_in),
                                   array_of(open, version_in), array_of(open, ttl_in)});
  });
}

namespace {

/// An array of the values that `in` reads from each request; one value if all are equal.
template <class In>
std::string once_or_each(const unanswered<acquire_request>& requests, const In& in) {
  const bool is_same = std::all_of(
      requests.begin(), requests.end(),
      [&](const acquire_request* request) { return in(request) == in(requests.front()); });
  return array_of(std::span{requests}.first(is_same ? 1 : requests.size()), in);
}

std::string expected_versions(const unanswered<acquire_request>& requests) {
  const bool are_wanted =
      std::any_of(requests.begin(), requests.end(),
                  [](const acquire_request* request) { return request->expected.has_value(); });
  return array_of(std::span{requests}.first(are_wanted ? requests.size() : 0), expected_in);
}

/// The values of the statements for sets; more may follow.
template <class... More>
bound_values values_of(const unanswered<acquire_request>& requests, More... more) {
  const auto keys = keys_of(requests);
  return bound_values{types_of(keys),
                      ids_of(keys),
                      once_or_each(requests, owner_in),
                      once_or_each(requests, holder_in),
                      once_or_each(requests, ttl_in),
                      expected_versions(requests),
                      once_or_each(requests, unless_done_in),
                      once_or_each(requests, correlation_in),
                      more...};
}

/// One call of acquire_all, with its answers so far.
class acquiring_all {
 public:
  acquiring_all(executor& exec, std::span<const acquire_request> requests)
      : exec_{exec},
        wanted_{all(requests)},
        answers_(requests.size(), {.status = acquire_status::withheld}),
        is_locked_(requests.size()),
        is_missing_(requests.size()) {}

  void run() {
    exec_.unless_contended([this] {
      if (take() || read() || missing_.empty()) return;
      exec_.prepare(missing_);
      if (!take()) read();
    });
    if (!is_answered_) blame_transactions();
  }

  std::vector<acquire_answer> answers() && { return std::move(answers_); }

 private:
  bool take() {
    const auto result = exec_.take_set(sql::acquire_all, values_of(wanted_));
    is_locked_.assign(wanted_.size(), false);
    for (const auto& each : result.granted) {
      mark_locked(each.index);
      answers_[each.index] = granted_by(each);
    }
    for (const auto index : result.withheld) mark_locked(index);
    is_answered_ = !result.granted.empty();
    return is_answered_;
  }

  void mark_locked(std::size_t index) {
    if (index >= is_locked_.size() || is_locked_[index]) throw_two_rows_of_a_key();
    is_locked_[index] = true;
  }

  /// Whether the rows show why not all were granted. A missing row is no reason.
  bool read() {
    const auto seen = exec_.read(keys_of(wanted_));
    missing_.clear();
    is_missing_.assign(wanted_.size(), false);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const auto& request = *wanted_[i];
      auto& answer = answers_[i];
      answer = detail::refusal_of(seen[i], request, exec_.clock_skew())
                   .value_or(acquire_answer{.status = acquire_status::withheld});
      if (!seen[i]) {
        missing_.push_back(&request.key);
        is_missing_[i] = true;
      }
      is_answered_ = is_answered_ || answer.status != acquire_status::withheld;
    }
    return is_answered_;
  }

  /// If the rows show no reason, other transactions have locked them or are creating them. Where
  /// all were locked, a policy or a trigger has dropped the changes: any of them is to be tried.
  void blame_transactions() {
    const bool are_dropped =
        std::find(is_locked_.begin(), is_locked_.end(), false) == is_locked_.end();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (is_missing_[i] || (missing_.empty() && (!is_locked_[i] || are_dropped))) {
        answers_[i].status = acquire_status::busy;
      }
    }
  }

  executor& exec_;
  const unanswered<acquire_request> wanted_;
  std::vector<acquire_answer> answers_;
  /// All are granted, or an answer says why not.
  bool is_answered_ = false;
  /// Locked by the last statement; it could not lock the others.
  std::vector<bool> is_locked_;
  std::vector<bool> is_missing_;
  key_list missing_;
};

}  // namespace

std::vector<acquire_answer> acquire_all(executor& exec, std::span<const acquire_request> requests) {
  acquiring_all acquired{exec, requests};
  acquired.run();
  return std::move(acquired).answers();
}

std::vector<acquire_answer> acquire_any(executor& exec, std::span<const acquire_request> requests,
                                        std::size_t at_most) {
  std::vector<acquire_answer> answers(requests.size(), {.status = acquire_status::withheld});
  auto open = all(requests);
  const auto grant = [&](const std::vector<changed_row>& done) {
    take_out(open, done, [&](const acquire_request& request, const changed_row& each) {
      answers[static_cast<std::size_t>(&request - requests.data())] = granted_by(each);
      --at_most;
    });
  };
  exec.unless_contended([&] {
    grant(exec.take_rows(sql::acquire_any, values_of(open, static_cast<std::int64_t>(at_most))));
    std::erase_if(open, [](const acquire_request* each) { return each->expected.has_value(); });
    if (at_most == 0 || open.empty()) return;
    grant(insert_rows(exec, open, static_cast<std::int64_t>(at_most)));
  });
  return answers;
}

}  // namespace rowlock::postgres
