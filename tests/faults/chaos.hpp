// Faults at random moments, each as often as a run requires.
#ifndef ROWLOCK_TESTS_FAULTS_CHAOS_HPP
#define ROWLOCK_TESTS_FAULTS_CHAOS_HPP

#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "rowlock/clock.hpp"

namespace rowlock::tests {

/// Thread-safety: one thread at a time; everything runs in that of `tick`.
class chaos {
 public:
  explicit chaos(unsigned seed) : random_{seed} {}

  /// Of those added here one is drawn every now and then.
  void add(std::string name, std::function<void()> strike);
  /// These strike `quota` times, spread evenly over the progress of the run.
  void add_paced(std::string name, unsigned quota, std::function<void()> strike);

  /// For faults that have an end: done after `delay`, or by `heal`.
  void later(std::chrono::milliseconds delay, std::function<void()> act);

  /// Strikes if it is time to. `progress` is 0 at the beginning and 1 at the end.
  void tick(double progress);
  /// Whether all that has a quota has struck that often.
  [[nodiscard]] bool has_struck_enough() const;
  /// Ends what has not ended yet.
  void heal();

  int draw(int below);
  /// How often each has struck.
  [[nodiscard]] const std::map<std::string, unsigned>& tally() const noexcept { return tally_; }

 private:
  struct fault {
    std::string name;
    std::function<void()> strike;
    unsigned quota = 0;
  };
  struct delayed {
    boot_clock::time_point due;
    std::function<void()> act;
  };

  void strike(const fault& which);
  void act_on_what_is_due(boot_clock::time_point now);

  std::minstd_rand random_;
  std::vector<fault> drawn_;
  std::vector<fault> paced_;
  std::vector<delayed> delayed_;
  boot_clock::time_point next_ = boot_clock::now();
  std::map<std::string, unsigned> tally_;
};

}  // namespace rowlock::tests

#endif
