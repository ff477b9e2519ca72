// A store that fails when a test tells it to.
#include "rowlock/testing/faulty_store.hpp"

#include <algorithm>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock {

namespace {

void nothing() {}

}  // namespace

faulty_store::faulty_store(store& asked, std::shared_ptr<time_source> time)
    : passing_store{asked}, time_{std::move(time)} {}

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
  const std::scoped_lock lock{mutex_};
  return faults_.size();
}

void faulty_store::add(fault next) {
  const std::scoped_lock lock{mutex_};
  faults_.push_back(std::move(next));
}

faulty_store::fault faulty_store::take(call made) {
  const std::scoped_lock lock{mutex_};
  const auto found = std::find_if(faults_.begin(), faults_.end(), [made](const fault& each) {
    return each.which == call::any || each.which == made;
  });
  if (found == faults_.end()) return {made, nothing, nothing};
  auto taken = std::move(*found);
  faults_.erase(found);
  return taken;
}

std::vector<acquire_answer> faulty_store::acquire(std::span<const acquire_request> requests) {
  return pass(call::acquire, [&] { return passing_store::acquire(requests); });
}
std::vector<acquire_answer> faulty_store::acquire_all(std::span<const acquire_request> requests) {
  return pass(call::acquire, [&] { return passing_store::acquire_all(requests); });
}
std::vector<acquire_answer> faulty_store::acquire_any(std::span<const acquire_request> requests,
                                                      std::size_t at_most) {
  return pass(call::acquire, [&] { return passing_store::acquire_any(requests, at_most); });
}
std::vector<renew_answer> faulty_store::renew(std::span<const renew_request> requests) {
  return pass(call::renew, [&] { return passing_store::renew(requests); });
}
std::vector<release_answer> faulty_store::release(std::span<const release_request> requests) {
  return pass(call::release, [&] { return passing_store::release(requests); });
}
handoff_answer faulty_store::handoff(const handoff_request& request) {
  return pass(call::release, [&] { return passing_store::handoff(request); });
}
note_answer faulty_store::write_note(const note_request& request) {
  return pass(call::operate, [&] { return passing_store::write_note(request); });
}
std::vector<std::optional<row_state>> faulty_store::read(std::span<const lock_key> keys) {
  return pass(call::read, [&] { return passing_store::read(keys); });
}
std::vector<std::optional<row_state>> faulty_store::prepare(std::span<const lock_key> keys) {
  return pass(call::read, [&] { return passing_store::prepare(keys); });
}
std::vector<std::optional<row_state>> faulty_store::watch(std::span<const lock_key> keys) {
  return pass(call::read, [&] { return passing_store::watch(keys); });
}
std::vector<row_state> faulty_store::list() {
  return pass(call::read, [&] { return passing_store::list(); });
}
force_answer faulty_store::force_release(const force_request& request) {
  return pass(call::operate, [&] { return passing_store::force_release(request); });
}
purge_answer faulty_store::purge(const purge_request& request) {
  return pass(call::operate, [&] { return passing_store::purge(request); });
}

}  // namespace rowlock
