// Ctrl-C and its kin, as an exception, so that nothing is left behind.
#ifndef ROWLOCK_EXAMPLE_INTERRUPTION_HPP
#define ROWLOCK_EXAMPLE_INTERRUPTION_HPP

#include <stdexcept>

namespace settlement {

/// A signal asked the program to end.
class interrupted : public std::runtime_error {
 public:
  explicit interrupted(int signal_number)
      : std::runtime_error{"interrupted"}, signal_number_{signal_number} {}
  [[nodiscard]] int signal_number() const noexcept { return signal_number_; }

 private:
  int signal_number_;
};

/// From now on SIGINT, SIGTERM and SIGHUP wait for `throw_if_interrupted`.
void catch_signals();
/// In a child: these signals end it, as usual.
void stop_catching_signals();
/// Throws `interrupted` if one has come.
void throw_if_interrupted();

}  // namespace settlement

#endif
