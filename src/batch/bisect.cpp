// Bisection of a failed call, so that only its cause gets the fault.
#include "batch/bisect.hpp"

#include <deque>
#include <utility>

#include "base/faults.hpp"

namespace rowlock::detail {

namespace {

using slice_work = std::function<void(slice)>;
using slice_failed = std::function<void(slice, const std::exception_ptr&)>;
using condition = std::function<bool()>;

/// The exception that `work` threw; null if none.
std::exception_ptr fault_of(const slice_work& work, slice some) {
  try {
    work(some);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// A long run of failures is not caused by a few requests. One bad request makes at most two
/// failures in a row, since the other half succeeds. More failures are permitted while the database
/// answers than while each call may time out.
class failure_streak {
 public:
  void add(const std::exception_ptr& fault) {
    ++length_;
    outages_ = may_pass(fault) || is_refused_login(fault) ? outages_ + 1 : 0;
  }
  void end() { *this = {}; }

  [[nodiscard]] bool is_hopeless() const { return length_ >= 64 || outages_ >= 3; }

 private:
  int length_ = 0;
  int outages_ = 0;  // transient faults at its end
};

}  // namespace

void bisect(slice all, const slice_work& work, const slice_failed& failed,
            const condition& give_up) {
  if (const auto fault = fault_of(work, all)) bisect_failed(all, fault, work, failed, give_up);
}

void bisect_failed(slice all, const std::exception_ptr& first_fault, const slice_work& work,
                   const slice_failed& failed, const condition& give_up) {
  struct failure {
    slice of;
    std::exception_ptr fault;
  };
  std::deque<failure> failures{{all, first_fault}};
  failure_streak streak;
  streak.add(first_fault);
  const auto is_over = [&] { return streak.is_hopeless() || give_up(); };
  const auto try_to = [&](slice some) {
    auto fault = fault_of(work, some);
    if (fault == nullptr) return streak.end();
    streak.add(fault);
    failures.push_back({some, std::move(fault)});
  };
  for (; !failures.empty(); failures.pop_front()) {
    const auto [some, fault] = failures.front();
    if (some.count < 2 || is_over()) {
      failed(some, fault);
      continue;
    }
    const auto others = failures.size();
    const slice first{some.begin, some.count / 2};
    const slice second{first.begin + first.count, some.count - first.count};
    try_to(first);
    if (give_up()) {
      failures.push_back({second, fault});
    } else {
      try_to(second);
    }
    const bool both_failed = failures.size() == others + 2;
    if (both_failed && is_over()) {  // reported together
      const auto last = std::move(failures.back().fault);
      failures.pop_back();
      failures.pop_back();
      failed(some, last);
    }
  }
}

}  // namespace rowlock::detail
