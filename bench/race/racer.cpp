// The work of one thread, from its first try to its last.
#include "race/racer.hpp"

#include <stdexcept>
#include <thread>
#include <utility>

#include "race/allocations.hpp"
#include "race/cpu_time.hpp"

namespace rowlock::race {

racer::racer(const plan& does, shared_state& state, std::unique_ptr<contender> by, unsigned number)
    : plan_{does},
      state_{state},
      contender_{std::move(by)},
      number_{number},
      key_{does.does == act::pairs ? key_of(number) : hot_key()},
      random_{std::uint64_t{does.seed} << 32 | number} {}

void racer::run(const std::stop_token& over) {
  if (plan_.does == act::turns) sleep_at_random();
  due_ = clock::now();
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
  counted_.own_cpu_each = contender_->own_cpu_each();
  counted_.allocations = allocations_of_this_thread() - allocated_before;
}

void racer::take_and_give_back() {
  choose_key();
  // With a rate, from when the pair was due: a thread that is late has work waiting.
  const auto begun = await_due();
  const bool counts = is(stage::measuring);
  const bool taken = contender_->take(key_);
  if (taken) contender_->give_back();
  const auto ended = clock::now();
  if (!counts || !is(stage::measuring)) return;
  if (taken) {
    ++counted_.taken;
    counted_.each.add(ended - begun);
    if (plan_.by_minute) state_.of_minute.add_shared(ended - begun);
  } else {
    ++counted_.refused;
  }
}

void racer::choose_key() {
  ++pairs_;
  if (plan_.keys == which_key::random) {
    key_ = other_key(std::uniform_int_distribution<std::uint64_t>{1, plan_.rows}(random_));
  }
  if (plan_.keys == which_key::fresh) {
    key_ = {.type = "fresh", .source_id = std::to_string(number_) + '-' + std::to_string(pairs_)};
  }
}

racer::clock::time_point racer::await_due() {
  if (plan_.rate == 0) return clock::now();
  // Many independent callers: the times between their calls are distributed exponentially.
  const double own_rate = plan_.rate / (plan_.processes * plan_.threads);
  const std::chrono::duration<double> pause{std::exponential_distribution<>{own_rate}(random_)};
  due_ += std::chrono::duration_cast<clock::duration>(pause);
  std::this_thread::sleep_until(due_);
  return due_;
}

void racer::sleep_at_random() {
  constexpr std::chrono::milliseconds longest_pause_of_a_peer{300};
  sleep_up_to(longest_pause_of_a_peer);
}

void racer::sleep_up_to(std::chrono::microseconds longest) {
  std::uniform_int_distribution<std::int64_t> pause{0, longest.count()};
  std::this_thread::sleep_for(std::chrono::microseconds{pause(random_)});
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
  if (plan_.comes_back_at_random) sleep_up_to(plan_.hold);
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
  if (plan_.comes_back_at_random) return std::this_thread::sleep_for(plan_.hold);
  if (plan_.hold > std::chrono::microseconds::zero()) sleep_up_to(2 * plan_.hold);
}

}  // namespace rowlock::race
