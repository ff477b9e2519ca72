// Which of the calls that meet share a statement, and which thread makes it.
#include "core/shared_statements.hpp"

#include <algorithm>
#include <chrono>

namespace rowlock::detail {

shared_statements::shared_statements(unsigned in_flight, std::size_t at_most,
                                     std::chrono::milliseconds usual_time)
    : in_flight_{in_flight}, at_most_{at_most}, usual_time_{usual_time} {}

bool shared_statements::may_begin(statement_kind kind) {
  if (under_way_ == 0) return true;
  if (youngest_ && clock::now() < youngest_->began + usual_time_) return false;
  // A pool of connections keeps its last one for releases, too.
  const unsigned kept = kind == statement_kind::acquire && in_flight_ > 1 ? 1 : 0;
  return under_way_ + kept < in_flight_ && !gathers(kind);
}

std::optional<statement_id> shared_statements::try_begin(statement_kind kind) {
  const std::scoped_lock lock{mutex_};
  if (!may_begin(kind)) return std::nullopt;
  return begin();
}

meeting_call::fate shared_statements::await(meeting_call& call) {
  std::unique_lock lock{mutex_};
  waiting_.push_back(&call);
  begin_next();  // in case a statement has ended meanwhile
  const auto is_told = [&] { return call.state != meeting_call::fate::waiting; };
  const auto look_after = std::max(usual_time_, std::chrono::milliseconds{1});
  while (!call.told.wait_for(lock, look_after, is_told)) begin_next();
  return call.state;
}

statement_id shared_statements::begin() {
  ++under_way_;
  youngest_ = {.id = ++last_id_, .began = clock::now()};
  return last_id_;
}

void shared_statements::begin_next() {
  const auto next = std::find_if(waiting_.begin(), waiting_.end(),
                                 [this](const auto* each) { return may_begin(each->kind); });
  if (next == waiting_.end()) return;
  auto& leader = **next;
  waiting_.erase(next);
  leader.statement = begin();
  gathers(leader.kind) = true;
  leader.state = meeting_call::fate::leading;
  leader.told.notify_one();
}

std::vector<meeting_call*> shared_statements::lead(meeting_call& leader) {
  std::vector<meeting_call*> led{&leader};
  auto requests = leader.requests;
  const std::scoped_lock lock{mutex_};
  gathers(leader.kind) = false;
  led.reserve(1 + waiting_.size());
  std::erase_if(waiting_, [&](auto* each) {
    if (each->kind != leader.kind || requests + each->requests > at_most_) return false;
    requests += each->requests;
    led.push_back(each);
    return true;
  });
  begin_next();
  return led;
}

void shared_statements::end(statement_id ended, const std::vector<meeting_call*>& led,
                            meeting_call::fate of_the_others) noexcept {
  const std::scoped_lock lock{mutex_};
  for (auto* each : led) {
    if (each->state == meeting_call::fate::leading) continue;
    each->state = of_the_others;
    each->told.notify_one();
  }
  --under_way_;
  if (youngest_ && youngest_->id == ended) youngest_.reset();  // all others are older than usual
  begin_next();
}

std::size_t shared_statements::waiting() const {
  const std::scoped_lock lock{mutex_};
  return waiting_.size();
}

}  // namespace rowlock::detail
