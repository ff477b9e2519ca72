// Acquiring single rows on PostgreSQL.
#include "postgres/acquire.hpp"

#include <utility>

#include "postgres/requests.hpp"
#include "postgres/sql/leases.hpp"

namespace rowlock::postgres {

namespace {

/// One call of acquire, with its answers so far.
class acquiring {
 public:
  acquiring(executor& exec, std::span<const acquire_request> requests)
      : exec_{exec}, requests_{requests}, answers_(requests.size()), open_{all(requests)} {}

  void run() {
    if (open_.size() == 1) {
      take_row();
    } else {
      grant(take_rows());
    }
    if (open_.empty()) return;
    const auto lost = read_the_others();
    if (!open_.empty()) grant(insert());
    // A faster transaction may have committed by now: then its holder is known.
    open_.insert(open_.end(), lost.begin(), lost.end());
    if (!open_.empty()) read_the_others();
  }

  std::vector<acquire_answer> answers() && { return std::move(answers_); }

 private:
  acquire_answer& answer_to(const acquire_request& request) {
    return answers_[static_cast<std::size_t>(&request - requests_.data())];
  }

  void grant(const std::vector<changed_row>& granted) {
    take_out(open_, granted, [this](const acquire_request& request, const changed_row& done) {
      answer_to(request) = granted_by(done);
    });
  }

  void take_row() {
    const auto& request = *open_.front();
    const auto known = exec_.take_row(
        sql::acquire,
        bound_values{request.key.type, request.key.source_id, request.owner.text, request.holder,
                     ttl_in(&request), expected_in(&request), request.unless_done});
    if (!known) return;
    answer_to(request) = *known;
    open_.clear();
  }

  std::vector<changed_row> take_rows() {
    const auto keys = keys_of(open_);
    return exec_.take_rows(
        sql::acquire_many,
        bound_values{types_of(keys), ids_of(keys), array_of(open_, owner_in),
                     array_of(open_, holder_in), array_of(open_, ttl_in),
                     array_of(open_, expected_in), array_of(open_, unless_done_in)});
  }

  std::vector<changed_row> insert() {
    if (open_.size() == 1) {
      const auto& request = *open_.front();
      return exec_.write(sql::insert,
                         bound_values{request.key.type, request.key.source_id, request.owner.text,
                                      request.holder, ttl_in(&request)});
    }
    return exec_.write(sql::insert_many, values_to_insert(open_));
  }

  /// Keeps the requests of missing rows open. Returns the requests whose rows seem free, but are
  /// locked by another transaction.
  unanswered<acquire_request> read_the_others() {
    unanswered<acquire_request> seem_free;
    const auto seen = exec_.read(keys_of(open_));
    unanswered<acquire_request> missing;
    std::vector<renew_request> mine;
    unanswered<acquire_request> granted_before;
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
        mine.push_back({request.key, request.owner, seen[i]->state.version, request.ttl});
        granted_before.push_back(&request);
      }
    }
    open_ = std::move(missing);
    if (!mine.empty()) adopt(mine, granted_before);
    return seem_free;
  }

  /// For the same attempt after an unknown outcome: the grant was made, and its ttl counts from
  /// now.
  void adopt(const std::vector<renew_request>& mine,
             const unanswered<acquire_request>& granted_before) {
    const auto renewed = renew(exec_, mine);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (renewed[i] == change_answer::done) {
        answer_to(*granted_before[i]).status = acquire_status::granted;
      }
    }
  }

  executor& exec_;
  std::span<const acquire_request> requests_;
  std::vector<acquire_answer> answers_;  // busy, until more is known
  unanswered<acquire_request> open_;
};

}  // namespace

std::vector<acquire_answer> acquire(executor& exec, std::span<const acquire_request> requests) {
  acquiring acquired{exec, requests};
  exec.unless_contended([&] { acquired.run(); });
  return std::move(acquired).answers();
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

}  // namespace rowlock::postgres
