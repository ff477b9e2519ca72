// Schedule of batches: which calls share a statement, and which thread sends it.
#include "batch/batch_schedule.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::detail {

namespace {

constexpr unsigned most_in_flight = 256;  // far more than are useful

void set_leading(batched_call* leader) {
  if (leader != nullptr) leader->result.set(batched_call::role::leading);
}

}  // namespace

batch_schedule::batch_schedule(const limits& has, const batch_linger::limits& linger,
                               const batch_backoff::limits& backoff)
    : limits_{.in_flight = std::clamp(has.in_flight, 1U, most_in_flight),
              .max_batch = has.max_batch,
              .pays_from = has.pays_from,
              .usual_time = has.usual_time},
      linger_{linger},
      backoff_{backoff} {
  under_way_.reserve(limits_.in_flight);  // so that `begin` cannot throw
}

batched_call::role batch_schedule::join(batched_call& call) {
  checked_lock lock{mutex_};
  linger_.arrived();
  ++present_;
  if (may_begin(call.kind)) {
    begin(call);
  } else {
    waiting_.push_back(call);
    lock.unlock();
    const auto recheck_after = std::max(limits_.usual_time, std::chrono::milliseconds{1});
    auto role = call.result.wait_for(recheck_after);
    while (!role) {
      lock.lock();
      auto* const next = next_leader();
      lock.unlock();
      set_leading(next);
      role = call.result.wait_for(recheck_after);
    }
    if (role != batched_call::role::leading) return *role;
    lock.lock();
  }
  auto* const beside_it = lead(lock, call);
  lock.unlock();
  set_leading(beside_it);
  return batched_call::role::leading;
}

bool batch_schedule::is_one_at_a_time() const {
  if (limits_.max_batch == 1) return false;
  if (limits_.in_flight == 1) return true;
  return present_ + linger_.expected() >= limits_.pays_from && !backoff_.is_side_by_side();
}

bool batch_schedule::may_begin(statement_kind kind) const {
  if (under_way_.empty()) return true;
  if (under_way_.size() >= limits_.in_flight) return false;
  if (kind == statement_kind::acquire) {  // acquires leave one statement for releases
    const auto acquiring =
        std::count_if(under_way_.begin(), under_way_.end(),
                      [](const auto* each) { return each->kind == statement_kind::acquire; });
    if (static_cast<unsigned>(acquiring) + 1 >= limits_.in_flight) return false;
  }
  if (!is_one_at_a_time()) return true;
  const auto since = clock::now() - limits_.usual_time;
  return std::all_of(under_way_.begin(), under_way_.end(),
                     [&](const auto* each) { return each->began <= since; });
}

void batch_schedule::begin(batched_call& leader) {
  leader.is_one = under_way_.empty();
  under_way_.push_back(&leader);
  leader.began = clock::now();
}

batched_call* batch_schedule::lead(checked_lock& lock, batched_call& leader) {
  auto requests = leader.requests;
  const auto calls = 1 + collect(leader, requests);
  if (is_one_at_a_time() && requests < limits_.max_batch && linger_.linger(lock)) {
    const auto delayed = calls + waiting_.size();
    const auto joined = collect(leader, requests);
    linger_.lingered(delayed - joined, joined);
    leader.began = clock::now();
  }
  return next_leader();
}

std::size_t batch_schedule::collect(batched_call& leader, std::size_t& requests) {
  auto** end = &leader.next;
  while (*end != nullptr) end = &(*end)->next;
  std::size_t taken = 0;
  *end = waiting_.take_if([&](const batched_call& each) {
    if (each.kind != leader.kind || requests + each.requests > limits_.max_batch) return false;
    requests += each.requests;
    ++taken;
    return true;
  });
  return taken;
}

batched_call* batch_schedule::next_leader() {
  if (waiting_.size() == 0 || !may_begin(statement_kind::release)) return nullptr;
  const bool may_acquire = may_begin(statement_kind::acquire);
  bool is_found = false;
  auto* const leader = waiting_.take_if([&](const batched_call& each) {
    const bool leads = !is_found && (may_acquire || each.kind == statement_kind::release);
    is_found = is_found || leads;
    return leads;
  });
  if (leader != nullptr) begin(*leader);
  return leader;
}

void batch_schedule::end(batched_call& leader, batched_call::role of_the_others) noexcept {
  std::size_t calls = 0;
  for (const auto* each = &leader; each != nullptr; each = each->next) ++calls;
  checked_lock lock{mutex_};
  if (leader.ended == batched_call::ending::usual) {
    backoff_.answered(leader.kind, calls, clock::now() - leader.began, leader.is_one);
  }
  std::erase(under_way_, &leader);
  present_ -= calls;
  // After a fault, threads send their calls again alone, or give up.
  linger_.ended(leader.began, leader.ended == batched_call::ending::failed ? 0 : calls);
  auto* const next = next_leader();
  lock.unlock();

  set_leading(next);
  for (auto* each = leader.next; each != nullptr;) {
    auto* const following = each->next;
    each->result.set(of_the_others);
    each = following;
  }
}

std::size_t batch_schedule::waiting() const {
  const checked_lock lock{mutex_};
  return waiting_.size();
}

}  // namespace rowlock::detail
