// Bisection of a failed call, so that only its cause gets the fault.
#ifndef ROWLOCK_BATCH_BISECT_HPP
#define ROWLOCK_BATCH_BISECT_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <span>

namespace rowlock::detail {

/// A contiguous part of a list of requests.
struct slice {
  std::size_t begin = 0;
  std::size_t count = 0;

  template <class T>
  [[nodiscard]] std::span<T> of(std::span<T> all) const {
    return all.subspan(begin, count);
  }
};

/// Calls `work` with all requests; if that throws, with each half, and so on. `failed` is called
/// for each single request that fails. It is called for several together when slice after slice
/// fails, as in an outage, or when `give_up` returns true. `work` must tolerate repetition.
/// Exceptions of `failed` propagate.
void bisect(slice all, const std::function<void(slice)>& work,
            const std::function<void(slice, const std::exception_ptr&)>& failed,
            const std::function<bool()>& give_up);

/// The same after a call for all requests has failed.
void bisect_failed(slice all, const std::exception_ptr& first_fault,
                   const std::function<void(slice)>& work,
                   const std::function<void(slice, const std::exception_ptr&)>& failed,
                   const std::function<bool()>& give_up);

}  // namespace rowlock::detail

#endif
