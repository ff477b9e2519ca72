// Acquiring, renewing and releasing on PostgreSQL.
#include "dialects/postgres/lease_calls.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace rowlock::postgres {

namespace {

/// Those of the requests that have no answer yet.
template <class Request>
using unanswered = std::vector<const Request*>;

template <class Request>
unanswered<Request> all(std::span<const Request> requests) {
  unanswered<Request> pointers;
  pointers.reserve(requests.size());
  for (const auto& request : requests) pointers.push_back(&request);
  return pointers;
}

template <class Request>
key_list keys_of(const unanswered<Request>& requests) {
  key_list keys;
  keys.reserve(requests.size());
  for (const auto* request : requests) keys.push_back(&request->key);
  return keys;
}

template <class Request>
std::string owners_of(const unanswered<Request>& requests) {
  return array_of(requests,
                  [](const auto* request) { return std::string_view{request->owner.text}; });
}

template <class Request>
std::string ttls_of(const unanswered<Request>& requests) {
  return array_of(requests, [](const auto* request) { return std::int64_t{request->ttl.count()}; });
}

template <class Request>
std::string versions_of(const unanswered<Request>& requests) {
  return array_of(requests, [](const auto* request) { return request->version.number; });
}

std::optional<std::int64_t> expected_by(const acquire_request& request) {
  return request.expected ? std::optional{request.expected->number} : std::nullopt;
}

/// Takes those that are done out of `asked`, in which they have their indexes.
template <class Request, class Act>
void take_out(unanswered<Request>& asked, const std::vector<done_request>& done, const Act& act) {
  for (const auto& each : done) {
    act(*asked[each.index], each);
    asked[each.index] = nullptr;
  }
  std::erase(asked, nullptr);
}

/// Renews or releases, with `send`; those that it did not change are busy as long as they are as
/// they were granted, and lost otherwise.
template <class Answer, class Request, class Send>
std::vector<Answer> change_granted(store_call& asking, std::span<const Request> requests,
                                   Answer done, const Send& send) {
  std::vector<Answer> answers(requests.size(), Answer::busy);
  const auto answer_to = [&](const Request& request) -> Answer& {
    return answers[static_cast<std::size_t>(&request - requests.data())];
  };
  asking.unless_contended([&] {
    auto open = all(requests);
    take_out(open, send(open),
             [&](const Request& request, const done_request&) { answer_to(request) = done; });
    if (open.empty()) return;
    const auto seen = asking.look(keys_of(open));
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool is_as_granted =
          seen[i] && seen[i]->is_of(open[i]->owner) && seen[i]->state.version == open[i]->version;
      if (!is_as_granted) answer_to(*open[i]) = Answer::lost;
    }
  });
  return answers;
}

/// Why a row that was seen was not granted.
acquire_answer refused(const acquire_request& request, const seen_row& seen,
                       std::chrono::milliseconds skew) {
  const auto& row = seen.state;
  acquire_answer answer{.status = acquire_status::busy, .version = row.version};
  const bool is_other_version = request.expected && *request.expected != row.version;
  if (is_other_version || (request.expected && row.owned && !row.is_live())) {
    answer.status = acquire_status::stale;
  } else if (!seen.can_be_taken(skew)) {
    answer.status = acquire_status::held;
    answer.holder = row.holder;
    answer.remaining = *row.remaining + skew;
  }
  return answer;
}

/// The answers to one call of acquire, as they come in.
class acquiring {
 public:
  acquiring(store_call& asking, std::span<const acquire_request> requests)
      : asking_{asking}, requests_{requests}, answers_(requests.size()), open_{all(requests)} {}

  void run() {
    grant(take_free_rows());
    if (!open_.empty()) look_at_the_others();
    if (!open_.empty()) grant(insert());
    if (!open_.empty()) look_at_the_others();
  }

  std::vector<acquire_answer> answers() && { return std::move(answers_); }

 private:
  acquire_answer& answer_to(const acquire_request& request) {
    return answers_[static_cast<std::size_t>(&request - requests_.data())];
  }

  void grant(const std::vector<done_request>& granted) {
    take_out(open_, granted, [this](const acquire_request& request, const done_request& done) {
      auto& answer = answer_to(request);
      answer = {.status = acquire_status::granted, .version = done.version};
      if (!done.taken_over) return;
      answer.took_over_expired = true;
      answer.holder = done.taken_over->holder;
      answer.remaining = done.taken_over->left;
    });
  }

  std::vector<done_request> take_free_rows() {
    if (open_.size() == 1) {
      const auto& request = *open_.front();
      return asking_.take_rows(
          asking_.statements().acquire,
          bound_values{request.key.type, request.key.source_id, request.owner.text, request.holder,
                       std::int64_t{request.ttl.count()}, expected_by(request)});
    }
    return asking_.take_rows(
        asking_.statements().acquire_many,
        bound_values{types_of(keys_of(open_)), ids_of(keys_of(open_)), owners_of(open_), holders(),
                     ttls_of(open_),
                     array_of(open_, [](const auto* request) { return expected_by(*request); })});
  }

  std::vector<done_request> insert() {
    return asking_.write(asking_.statements().insert_many,
                         bound_values{types_of(keys_of(open_)), ids_of(keys_of(open_)),
                                      owners_of(open_), holders(), ttls_of(open_)});
  }

  /// Leaves those open whose rows are missing.
  void look_at_the_others() {
    const auto seen = asking_.look(keys_of(open_));
    unanswered<acquire_request> missing;
    std::vector<renew_request> mine;
    unanswered<acquire_request> asked_again;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const auto& request = *open_[i];
      if (!seen[i]) {
        if (request.expected) {
          answer_to(request).status = acquire_status::stale;
        } else {
          missing.push_back(&request);
        }
      } else if (seen[i]->is_of(request.owner) && seen[i]->state.is_live()) {
        answer_to(request).version = seen[i]->state.version;  // busy, unless it can be renewed
        mine.push_back({request.key, request.owner, seen[i]->state.version, request.ttl});
        asked_again.push_back(&request);
      } else {
        answer_to(request) = refused(request, *seen[i], asking_.statements().clock_skew);
      }
    }
    open_ = std::move(missing);
    if (!mine.empty()) adopt(mine, asked_again);
  }

  /// Asked again after an unknown outcome: the grant was made, and its ttl counts from now.
  void adopt(const std::vector<renew_request>& mine,
             const unanswered<acquire_request>& asked_again) {
    const auto renewed = renew(asking_, mine);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (renewed[i] == renew_answer::renewed) {
        answer_to(*asked_again[i]).status = acquire_status::granted;
      }
    }
  }

  std::string holders() {
    return array_of(open_, [](const auto* request) { return std::string_view{request->holder}; });
  }

  store_call& asking_;
  std::span<const acquire_request> requests_;
  std::vector<acquire_answer> answers_;  // busy, until more is known
  unanswered<acquire_request> open_;
};

}  // namespace

std::vector<acquire_answer> acquire(store_call& asking, std::span<const acquire_request> requests) {
  acquiring acquired{asking, requests};
  asking.unless_contended([&] { acquired.run(); });
  return std::move(acquired).answers();
}

std::vector<renew_answer> renew(store_call& asking, std::span<const renew_request> requests) {
  return change_granted<renew_answer>(
      asking, requests, renew_answer::renewed, [&](const unanswered<renew_request>& open) {
        const auto& sql = asking.statements();
        if (open.size() == 1) {
          const auto& request = *open.front();
          return asking.write(
              sql.renew, bound_values{request.key.type, request.key.source_id, request.owner.text,
                                      request.version.number, std::int64_t{request.ttl.count()}});
        }
        const auto keys = keys_of(open);
        return asking.write(sql.renew_many,
                            bound_values{types_of(keys), ids_of(keys), owners_of(open),
                                         versions_of(open), ttls_of(open)});
      });
}

std::vector<release_answer> release(store_call& asking, std::span<const release_request> requests) {
  return change_granted<release_answer>(
      asking, requests, release_answer::released, [&](const unanswered<release_request>& open) {
        const auto& sql = asking.statements();
        if (open.size() == 1) {
          const auto& request = *open.front();
          return asking.write(
              sql.release, bound_values{request.key.type, request.key.source_id, request.owner.text,
                                        request.version.number, request.failed});
        }
        const auto keys = keys_of(open);
        return asking.write(
            sql.release_many,
            bound_values{types_of(keys), ids_of(keys), owners_of(open), versions_of(open),
                         array_of(open, [](const auto* request) { return request->failed; })});
      });
}

}  // namespace rowlock::postgres
