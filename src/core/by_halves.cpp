// A call for many, made in parts when it fails, so that a fault stays with its cause.
#include "core/by_halves.hpp"

#include <deque>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

using call = std::function<void(part)>;
using told = std::function<void(part, const std::exception_ptr&)>;

/// What it threw; null for nothing.
std::exception_ptr fault_of(const call& work, part some) {
  try {
    work(some);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// So many failures one after the other are no fault of a few requests: one of them makes two at
/// most, as the other half of what failed succeeds. A database that answers is asked more often
/// than one that may keep us waiting.
int most_in_vain(const std::exception_ptr& fault) {
  constexpr int cannot_be_reached = 3;
  constexpr int otherwise = 64;
  try {
    std::rethrow_exception(fault);
  } catch (const error& thrown) {
    const bool is_outage =
        thrown.kind() == errc::unavailable || thrown.kind() == errc::outcome_unknown;
    return is_outage ? cannot_be_reached : otherwise;
  } catch (...) {
    return otherwise;
  }
}

}  // namespace

void by_halves(part all, const call& work, const told& failed) {
  if (const auto fault = fault_of(work, all)) divide(all, fault, work, failed);
}

void divide(part all, const std::exception_ptr& first_fault, const call& work, const told& failed) {
  struct failure {
    part of;
    std::exception_ptr fault;
  };
  std::deque<failure> failures{{all, first_fault}};
  int in_vain = 1;
  const auto try_to = [&](part some) {
    if (auto fault = fault_of(work, some)) {
      ++in_vain;
      failures.push_back({some, std::move(fault)});
    } else {
      in_vain = 0;
    }
  };
  for (; !failures.empty(); failures.pop_front()) {
    const auto& [some, fault] = failures.front();
    if (some.count < 2 || in_vain >= most_in_vain(fault)) {
      failed(some, fault);
      continue;
    }
    const auto others = failures.size();
    const part first{some.begin, some.count / 2};
    try_to(first);
    try_to({first.begin + first.count, some.count - first.count});
    const bool both_failed = failures.size() == others + 2;
    if (both_failed && in_vain >= most_in_vain(failures.back().fault)) {
      const auto last = std::move(failures.back().fault);
      failures.pop_back();
      failures.pop_back();
      failed(some, last);
    }
  }
}

}  // namespace rowlock::detail
