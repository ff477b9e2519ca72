// Faults at random moments, each as often as a run requires.
#include "faults/chaos.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::tests {

using std::chrono::milliseconds;

void chaos::add(std::string name, std::function<void()> strike) {
  tally_[name] = 0;
  drawn_.push_back({std::move(name), std::move(strike)});
}

void chaos::add_paced(std::string name, unsigned quota, std::function<void()> strike) {
  tally_[name] = 0;
  paced_.push_back({std::move(name), std::move(strike), quota});
}

void chaos::later(milliseconds delay, std::function<void()> act) {
  delayed_.push_back({boot_clock::now() + delay, std::move(act)});
}

void chaos::tick(double progress) {
  const auto now = boot_clock::now();
  act_on_what_is_due(now);
  for (const auto& each : paced_) {
    if (tally_[each.name] < each.quota * std::min(progress, 1.0)) strike(each);
  }
  if (drawn_.empty() || now < next_) return;
  next_ = now + milliseconds{50 + draw(200)};
  strike(drawn_[static_cast<std::size_t>(draw(static_cast<int>(drawn_.size())))]);
}

bool chaos::has_struck_enough() const {
  return std::ranges::all_of(
      paced_, [this](const fault& each) { return tally_.at(each.name) >= each.quota; });
}

void chaos::heal() { act_on_what_is_due(boot_clock::time_point::max()); }

int chaos::draw(int below) { return std::uniform_int_distribution{0, below - 1}(random_); }

void chaos::strike(const fault& which) {
  which.strike();
  ++tally_[which.name];
}

void chaos::act_on_what_is_due(boot_clock::time_point now) {
  std::vector<delayed> due;
  std::erase_if(delayed_, [&](const delayed& each) {
    if (each.due > now) return false;
    due.push_back(each);
    return true;
  });
  for (const auto& each : due) each.act();
}

}  // namespace rowlock::tests
