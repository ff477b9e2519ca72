// Start of threads, and a stop token with two sources.
#ifndef ROWLOCK_BASE_THREADS_HPP
#define ROWLOCK_BASE_THREADS_HPP

#include <exception>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// A stop is requested by either source, or by the destructor: code that kept the token must not
/// continue after that.
class either_stop {
 public:
  either_stop(std::stop_token one, std::stop_token other)
      : on_one_{std::move(one), request{&both_}}, on_other_{std::move(other), request{&both_}} {}
  either_stop(const either_stop&) = delete;
  either_stop& operator=(const either_stop&) = delete;
  ~either_stop() { both_.request_stop(); }

  [[nodiscard]] std::stop_token token() const { return both_.get_token(); }

 private:
  struct request {
    std::stop_source* both;
    void operator()() const { both->request_stop(); }
  };

  std::stop_source both_;
  std::stop_callback<request> on_one_;
  std::stop_callback<request> on_other_;
};

/// Calls `start`, which starts a thread "to ..." (`purpose`). Throws `error` (unavailable) if no
/// thread can be started.
template <class Start>
void start_thread(const char* purpose, const Start& start) {
  try {
    start();
  } catch (const std::system_error&) {
    std::throw_with_nested(error{errc::unavailable, "the system lets us start no thread to " +
                                                        std::string{purpose} +
                                                        ": raise its limit of threads"});
  }
}

}  // namespace rowlock::detail

#endif
