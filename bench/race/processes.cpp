// Forks, runs the threads of each child, and collects what they counted.
#include "race/processes.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>

#include "race/cpu_time.hpp"
#include "race/racer.hpp"

namespace rowlock::race {

namespace {

void await(const shared_state& state, stage wanted) {
  while (state.now < wanted) std::this_thread::sleep_for(std::chrono::milliseconds{1});
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

/// Starts a child that runs `work`, which may throw, and writes what it threw into `result`.
pid_t start(const std::function<void()>& work, result_of_process& result) {
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
      result.fail(thrown.what());
    }
  }
  _exit(status);
}

/// Runs the threads of process `number`, from the stage `entering` until that of `over`.
void race(const plan& does, const protocol& by, const place& where, shared_state& state,
          unsigned number) {
  await(state, stage::entering);
  const auto new_contender = by.open(where);
  std::stop_source over;
  std::mutex mutex;
  tally all;                         // guarded by mutex
  std::exception_ptr first_failure;  // guarded by mutex
  const auto one_thread = [&](unsigned thread) {
    try {
      racer runs{does, state, new_contender(), number * does.threads + thread};
      ++state.entered;
      await(state, stage::warming);
      runs.run(over.get_token());
      const std::lock_guard lock{mutex};
      all.add(runs.counted());
    } catch (...) {
      const std::lock_guard lock{mutex};
      if (!first_failure) first_failure = std::current_exception();
      state.now = stage::over;
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < does.threads; ++i) threads.emplace_back(one_thread, i);
  await(state, stage::measuring);
  // This thread polls the stage, and does nothing for the protocol.
  const auto cpu_of_others = [] { return cpu_of_this_process() - cpu_of_this_thread(); };
  const auto before = cpu_of_others();
  await(state, stage::over);
  const auto used = cpu_of_others() - before;
  over.request_stop();
  for (auto& each : threads) each.join();
  if (first_failure) std::rethrow_exception(first_failure);
  all.process_cpu = used;
  state.results.at(number).counted = all;
}

/// Has the hot key while the others run against it.
void hold_the_hot_key(const protocol& by, place where, shared_state& state) {
  await(state, stage::entering);
  where.connections = 1;
  const auto new_contender = by.open(where);
  const auto holder = new_contender();
  const auto key = hot_key();
  if (!holder->take(key)) throw std::runtime_error{"the holder was refused"};
  state.is_held = true;
  await(state, stage::over);
  holder->give_back();
}

}  // namespace

processes::processes(const plan& does, const protocol& by, const place& where, shared_state& state)
    : plan_{does},
      has_holder_{does.does == act::refused || does.does == act::queue},
      state_{state} {
  for (unsigned i = 0; i < does.processes; ++i) {
    children_.push_back(start([&] { race(does, by, where, state, i); }, state.results.at(i)));
  }
  if (has_holder_) {
    children_.push_back(
        start([&] { hold_the_hot_key(by, where, state); }, state.results.at(does.processes)));
  }
}

processes::~processes() {
  for (const auto child : children_) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

void processes::await_ready() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (state_.entered != plan_.processes * plan_.threads || (has_holder_ && !state_.is_held)) {
    if (state_.now == stage::over) return;
    throw_if_one_has_ended();
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error{"the processes did not get ready"};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

tally processes::join() {
  bool has_failed = false;
  while (!children_.empty()) {
    int status = 0;
    waitpid(children_.back(), &status, 0);
    children_.pop_back();
    has_failed = has_failed || status != 0;
  }
  if (has_failed) fail();
  tally all;
  for (const auto& each : state_.results) all.add(each.counted);
  return all;
}

void processes::throw_if_one_has_ended() {
  for (auto child = children_.begin(); child != children_.end(); ++child) {
    if (waitpid(*child, nullptr, WNOHANG) == 0) continue;
    children_.erase(child);
    fail();
  }
}

void processes::fail() const {
  for (const auto& each : state_.results) {
    if (each.failure[0] != '\0') throw std::runtime_error{each.failure.data()};
  }
  throw std::runtime_error{"a process ended early"};
}

}  // namespace rowlock::race
