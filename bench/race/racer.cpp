// The work of one thread, from its first try to its last.
#include "race/racer.hpp"

#include <ctime>
#include <stdexcept>
#include <thread>
#include <utility>

#include "race/allocations.hpp"

namespace rowlock::race {

namespace {

std::chrono::nanoseconds cpu_of_this_thread() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

}  // namespace

racer::racer(const plan& does, shared_state& state, std::unique_ptr<contender> by, unsigned number)
    : plan_{does},
      state_{state},
      contender_{std::move(by)},
      number_{number},
      key_{does.does == act::pairs ? key_of(number) : hot_key()},
      random_{number + 1} {}

void racer::run(const std::stop_token& over) {
  if (plan_.does == act::turns) sleep_at_random();
  std::optional<std::chrono::nanoseconds> cpu_before;
  std::uint64_t allocated_before = 0;
  while (!is(stage::over)) {
    if (!cpu_before && is(stage::measuring)) {
      cpu_before = cpu_of_this_thread();
      allocated_before = allocations_of_this_thread();
    }
    switch (plan_.does) {
      case act::pairs:
        take_and_give_back();
        break;
      case act::turns:
        take_a_turn(over);
        break;
      case act::refused:
        be_refused();
        break;
      case act::queue:
        wait_in_vain(over);
        break;
    }
  }
  if (!cpu_before) return;
  counted_.thread_cpu = cpu_of_this_thread() - *cpu_before;
  counted_.bytes_each = contender_->bytes_each();
  counted_.allocations = allocations_of_this_thread() - allocated_before;
}

void racer::take_and_give_back() {
  const bool counts = is(stage::measuring);
  const auto begun = clock::now();
  const bool taken = contender_->take(key_);
  if (taken) contender_->give_back();
  const auto ended = clock::now();
  if (!counts || !is(stage::measuring)) return;
  if (taken) {
    ++counted_.taken;
    counted_.each.add(ended - begun);
  } else {
    ++counted_.refused;
  }
}

void racer::sleep_at_random() {
  constexpr std::int64_t longest_pause_of_a_peer_ms = 300;
  std::uniform_int_distribution<std::int64_t> pause{0, longest_pause_of_a_peer_ms};
  std::this_thread::sleep_for(std::chrono::milliseconds{pause(random_)});
}

void racer::take_a_turn(const std::stop_token& over) {
  if (!contender_->take_waiting(key_, over)) return;
  const auto granted = state_.hot_key.enter(number_);
  const bool counts = is(stage::measuring);
  if (!granted.is_alone) ++counted_.violations;
  if (counts) {
    ++counted_.taken;
    if (granted.handed_over_in) counted_.handover.add(*granted.handed_over_in);
  }
  if (!is(stage::over)) hold();
  state_.hot_key.leave();
  contender_->give_back();
  state_.hot_key.wait_for_another(granted.number, [this] { return is(stage::over); });
}

void racer::be_refused() {
  const bool counts = is(stage::measuring);
  const auto begun = clock::now();
  if (contender_->take(key_)) {
    if (!is(stage::over)) throw std::runtime_error{"taken while another one holds it"};
    contender_->give_back();
    return;
  }
  const auto ended = clock::now();
  if (!counts || !is(stage::measuring)) return;
  ++counted_.refused;
  counted_.each.add(ended - begun);
}

void racer::wait_in_vain(const std::stop_token& over) {
  if (!contender_->take_waiting(key_, over)) return;
  const bool is_early = !is(stage::over);
  contender_->give_back();
  if (is_early) throw std::runtime_error{"taken while another one holds it"};
}

void racer::hold() {
  if (plan_.hold == std::chrono::microseconds::zero()) return;
  std::uniform_int_distribution<std::int64_t> length{0, 2 * plan_.hold.count()};
  std::this_thread::sleep_for(std::chrono::microseconds{length(random_)});
}

}  // namespace rowlock::race
