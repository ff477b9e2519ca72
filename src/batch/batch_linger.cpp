// Group commit: a short delay before a batch, so that more calls join it.
#include "batch/batch_linger.hpp"

#include <algorithm>

namespace rowlock::detail {

void batch_linger::ended(clock::time_point began, std::size_t answered) {
  ended_at_ = clock::now();
  took_ = ended_at_ - began;
  answered_ = answered;
  expected_ = answered;
}

bool batch_linger::is_idle() const {
  constexpr std::size_t few_answered = 4;
  const bool is_known = took_ > clock::duration::zero();
  return is_known && took_ < limits_.shortest && answered_ <= few_answered;
}

void batch_linger::arrived() {
  if (expected_ > 0 && --expected_ == 0) all_arrived_.notify_all();
}

bool batch_linger::linger(std::unique_lock<std::mutex>& lock) {
  if (expected_ == 0 || took_ < limits_.shortest || took_ > limits_.longest) return false;
  const std::chrono::duration<double> at_most = took_ * limits_.part;
  const auto until = ended_at_ + std::chrono::duration_cast<clock::duration>(at_most);
  if (clock::now() >= until) return false;
  if (to_skip_ > 0) {
    --to_skip_;
    return false;
  }
  all_arrived_.wait_until(lock, until, [this] { return expected_ == 0; });
  return true;
}

void batch_linger::lingered(std::size_t calls, std::size_t joined) {
  // Each joined call has saved a statement's time; each waiting call has lost a part of one.
  const bool was_worth_it =
      static_cast<double>(joined) >= static_cast<double>(calls) * limits_.part;
  skips_ = was_worth_it ? 0 : std::min(2 * skips_ + 1, 63U);
  to_skip_ = skips_;
}

}  // namespace rowlock::detail
