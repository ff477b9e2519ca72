// A stop that is requested when either of two is.
#ifndef ROWLOCK_BASE_THREADS_HPP
#define ROWLOCK_BASE_THREADS_HPP

#include <stop_token>
#include <utility>

namespace rowlock::detail {

/// And when this is destroyed, so that nobody goes on who kept the token.
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

}  // namespace rowlock::detail

#endif
