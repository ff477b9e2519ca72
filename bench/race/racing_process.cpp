// One process of many: a child of fork() that never returns to its caller's code.
#include "race/racing_process.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include "race/keys.hpp"
#include "race/racer.hpp"

namespace rowlock::race {

namespace {

void await(const arena& in, stage wanted) {
  while (in.now < wanted) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

std::chrono::nanoseconds cpu_of_this_process() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto in_nanoseconds = [](const timeval& time) {
    return std::chrono::nanoseconds{std::chrono::seconds{time.tv_sec} +
                                    std::chrono::microseconds{time.tv_usec}};
  };
  return in_nanoseconds(used.ru_utime) + in_nanoseconds(used.ru_stime);
}

/// The first exception of many threads.
class first_failure {
 public:
  void note(const std::exception_ptr& thrown) {
    const std::lock_guard lock{mutex_};
    if (!first_) first_ = thrown;
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

pid_t start(const std::function<void()>& work, result_of_process& told) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child > 0) return child;
  int status = 1;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) {
    try {
      work();
      status = 0;
    } catch (const std::exception& thrown) {
      told.fail(thrown.what());
    }
  }
  _exit(status);
}

void race(const plan& does, const protocol& by, const place& where, arena& in, unsigned number) {
  await(in, stage::entering);
  const auto ours = by.open(where);
  std::stop_source over;
  first_failure failure;
  std::mutex mutex;
  tally all;
  const auto one_thread = [&](unsigned thread) {
    try {
      racer runs{does, in, ours->enter(), number * does.threads + thread};
      ++in.entered;
      await(in, stage::warming);
      runs.run(over.get_token());
      const std::lock_guard lock{mutex};
      all.add(runs.counted());
    } catch (...) {
      failure.note(std::current_exception());
      in.now = stage::over;
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < does.threads; ++i) threads.emplace_back(one_thread, i);
  await(in, stage::measuring);
  const auto before = cpu_of_this_process();
  await(in, stage::over);
  const auto used = cpu_of_this_process() - before;
  over.request_stop();
  for (auto& each : threads) each.join();
  failure.rethrow();
  all.process_cpu = used;
  in.results.at(number).counted = all;
}

void hold_the_hot_key(const protocol& by, place where, arena& in) {
  await(in, stage::entering);
  where.connections = 1;
  const auto ours = by.open(where);
  const auto holder = ours->enter();
  if (!holder->take(hot_key())) throw std::runtime_error{"the holder was refused"};
  in.is_held = true;
  await(in, stage::over);
  holder->give_back();
}

}  // namespace rowlock::race
