// Acquiring, renewing and releasing on PostgreSQL.
#include "postgres/acquire.hpp"

#include <utility>

#include "postgres/change_granted.hpp"
#include "postgres/request_values.hpp"

namespace rowlock::postgres {

namespace {

/// The answers to one call of acquire, as they come in.
class acquiring {
 public:
  acquiring(store_call& asking, std::span<const acquire_request> requests)
      : asking_{asking}, requests_{requests}, answers_(requests.size()), open_{all(requests)} {}

  void run() {
    if (open_.size() == 1) {
      take_row();
    } else {
      grant(take_rows());
    }
    if (open_.empty()) return;
    const auto lost = look_at_the_others();
    if (!open_.empty()) grant(insert());
    // Who was quicker may have committed by now, and is named then.
    open_.insert(open_.end(), lost.begin(), lost.end());
    if (!open_.empty()) look_at_the_others();
  }

  std::vector<acquire_answer> answers() && { return std::move(answers_); }

 private:
  acquire_answer& answer_to(const acquire_request& request) {
    return answers_[static_cast<std::size_t>(&request - requests_.data())];
  }

  void grant(const std::vector<done_request>& granted) {
    take_out(open_, granted, [this](const acquire_request& request, const done_request& done) {
      answer_to(request) = granted_by(done);
    });
  }

  void take_row() {
    const auto& request = *open_.front();
    const auto known = asking_.take_row(
        asking_.statements().acquire,
        bound_values{request.key.type, request.key.source_id, request.owner.text, request.holder,
                     ttl_in(&request), expected_in(&request), request.unless_done});
    if (!known) return;
    answer_to(request) = *known;
    open_.clear();
  }

  std::vector<done_request> take_rows() {
    const auto keys = keys_of(open_);
    return asking_.take_rows(
        asking_.statements().acquire_many,
        bound_values{types_of(keys), ids_of(keys), array_of(open_, owner_in),
                     array_of(open_, holder_in), array_of(open_, ttl_in),
                     array_of(open_, expected_in), array_of(open_, unless_done_in)});
  }

  std::vector<done_request> insert() {
    if (open_.size() == 1) {
      const auto& request = *open_.front();
      return asking_.write(asking_.statements().insert,
                           bound_values{request.key.type, request.key.source_id, request.owner.text,
                                        request.holder, ttl_in(&request)});
    }
    return asking_.write(asking_.statements().insert_many, values_to_insert(open_));
  }

  /// Leaves those open whose rows are missing. The answer: those whose rows seem free, and are
  /// locked by somebody.
  unanswered<acquire_request> look_at_the_others() {
    unanswered<acquire_request> seem_free;
    const auto seen = asking_.look(keys_of(open_));
    unanswered<acquire_request> missing;
    std::vector<renew_request> mine;
    unanswered<acquire_request> asked_again;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const auto& request = *open_[i];
      auto& answer = answer_to(request);
      if (auto refused = detail::refusal_of(seen[i], request, asking_.statements().clock_skew)) {
        answer = *std::move(refused);
      } else if (!seen[i]) {
        missing.push_back(&request);
      } else {
        answer = {.version = seen[i]->state.version};  // busy
        if (!seen[i]->is_live_and_of(request.owner)) {
          seem_free.push_back(&request);
          continue;
        }
        mine.push_back({request.key, request.owner, seen[i]->state.version, request.ttl});
        asked_again.push_back(&request);
      }
    }
    open_ = std::move(missing);
    if (!mine.empty()) adopt(mine, asked_again);
    return seem_free;
  }

  /// Asked again after an unknown outcome: the grant was made, and its ttl counts from now.
  void adopt(const std::vector<renew_request>& mine,
             const unanswered<acquire_request>& asked_again) {
    const auto renewed = renew(asking_, mine);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (renewed[i] == change_answer::done) {
        answer_to(*asked_again[i]).status = acquire_status::granted;
      }
    }
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

std::vector<change_answer> renew(store_call& asking, std::span<const renew_request> requests) {
  return change_granted(asking, requests, [&](const unanswered<renew_request>& open) {
    const auto& sql = asking.statements();
    if (open.size() == 1) {
      const auto& request = *open.front();
      return asking.write(sql.renew,
                          bound_values{request.key.type, request.key.source_id, request.owner.text,
                                       request.version.number, std::int64_t{request.ttl.count()}});
    }
    const auto keys = keys_of(open);
    return asking.write(sql.renew_many,
                        bound_values{types_of(keys), ids_of(keys), array_of(open, owner_in),
                                     array_of(open, version_in), array_of(open, ttl_in)});
  });
}

std::vector<change_answer> release(store_call& asking, std::span<const release_request> requests) {
  return change_granted(asking, requests, [&](const unanswered<release_request>& open) {
    const auto& sql = asking.statements();
    if (open.size() == 1) {
      const auto& request = *open.front();
      return asking.write(sql.release,
                          bound_values{request.key.type, request.key.source_id, request.owner.text,
                                       request.version.number, request.failed,
                                       stay_closed_in(&request), done_for_in(&request)});
    }
    const auto keys = keys_of(open);
    return asking.write(sql.release_many,
                        bound_values{types_of(keys), ids_of(keys), array_of(open, owner_in),
                                     array_of(open, version_in), array_of(open, failed_in),
                                     array_of(open, stay_closed_in), array_of(open, done_for_in)});
  });
}

handoff_answer handoff(store_call& asking, const handoff_request& request) {
  const auto& ended = request.ended;
  const auto& next = request.next;
  handoff_answer answer;
  const auto send = [&](const unanswered<release_request>& /*open*/) {
    auto done = asking.write(
        asking.statements().handoff,
        bound_values{ended.key.type, ended.key.source_id, ended.owner.text, ended.version.number,
                     ended.failed, next.owner.text, next.holder, ttl_in(&next)});
    if (!done.empty()) answer.granted = done.front().version;
    return done;
  };
  answer.ended = change_granted(asking, std::span{&ended, 1}, send).front();
  return answer;
}

}  // namespace rowlock::postgres
