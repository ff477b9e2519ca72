// A call for many, made in parts when it fails, so that a fault stays with its cause.
#ifndef ROWLOCK_BATCH_BISECT_HPP
#define ROWLOCK_BATCH_BISECT_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <span>

namespace rowlock::detail {

/// Some of many, by their places.
struct slice {
  std::size_t begin = 0;
  std::size_t count = 0;

  template <class T>
  [[nodiscard]] std::span<T> of(std::span<T> all) const {
    return all.subspan(begin, count);
  }
};

/// Calls `work` with all; if that throws, with each half, and so on. `failed` is told of single
/// ones that fail, and of more together when one part after the other fails, as in an outage, or
/// when it is time to `give_up`. `work` must bear being repeated. What `failed` throws passes.
void bisect(slice all, const std::function<void(slice)>& work,
            const std::function<void(slice, const std::exception_ptr&)>& failed,
            const std::function<bool()>& give_up);

/// The same where a call for all has failed already.
void bisect_failed(slice all, const std::exception_ptr& first_fault,
                   const std::function<void(slice)>& work,
                   const std::function<void(slice, const std::exception_ptr&)>& failed,
                   const std::function<bool()>& give_up);

}  // namespace rowlock::detail

#endif
