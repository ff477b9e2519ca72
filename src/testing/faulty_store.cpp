// A store with faults that tests inject.
#include "rowlock/testing/faulty_store.hpp"

#include <algorithm>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock {

namespace {

void nothing() {}

}  // namespace

faulty_store::faulty_store(store& target, std::shared_ptr<time_source> time)
    : passing_store{target}, time_{std::move(time)} {}

void faulty_store::next_is_unavailable(call which) {
  add({which,
       [] {
         throw error{errc::unavailable, "the test wants the database to be away: try later"};
       },
       nothing});
}

void faulty_store::next_is_in_doubt(call which) {
  add({which, nothing, [] {
         throw error{errc::outcome_unknown, "the test wants the answer to get lost: ask again"};
       }});
}

void faulty_store::next_is_slow(std::chrono::milliseconds delay, call which) {
  add({which, [this, delay] { time_->sleep_until(time_->now() + delay, {}); }, nothing});
}

std::size_t faulty_store::pending() const {
  const detail::checked_lock lock{mutex_};
  return faults_.size();
}

void faulty_store::add(fault next) {
  const detail::checked_lock lock{mutex_};
  faults_.push_back(std::move(next));
}

faulty_store::fault faulty_store::take(call made) {
  const detail::checked_lock lock{mutex_};
  const auto found = std::find_if(faults_.begin(), faults_.end(), [made](const fault& each) {
    return each.which == call::any || each.which == made;
  });
  if (found == faults_.end()) return {made, nothing, nothing};
  auto taken = std::move(*found);
  faults_.erase(found);
  return taken;
}

faulty_store::call faulty_store::kind_of(store_call made) {
  switch (made) {
    case store_call::acquire:
      return call::acquire;
    case store_call::renew:
      return call::renew;
    case store_call::release:
    case store_call::handoff:
      return call::release;
    case store_call::read:
    case store_call::list:
    case store_call::history:
    case store_call::inspect:
    case store_call::now:
    case store_call::weak_settings:
      return call::read;
    default:
      return call::operate;
  }
}

void faulty_store::pass(store_call made, work_on_store work) {
  const auto happens = take(kind_of(made));
  happens.before();
  passing_store::pass(made, work);
  happens.after();
}

}  // namespace rowlock
