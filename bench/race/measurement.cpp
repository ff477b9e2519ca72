// One measurement, from the first table to the last answer.
#include "race/measurement.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "race/arena.hpp"
#include "race/connections.hpp"
#include "race/racing_process.hpp"
#include "race/scratch.hpp"

namespace rowlock::race {

namespace {

using clock = std::chrono::steady_clock;

/// The children, and what they say of themselves.
class processes {
 public:
  processes(const plan& does, const protocol& by, const place& where, arena& in) : in_{in} {
    for (unsigned i = 0; i < does.processes; ++i) {
      children_.push_back(start([&] { race(does, by, where, in, i); }, in.results.at(i)));
    }
    if (does.does == act::refused || does.does == act::queue) {
      children_.push_back(
          start([&] { hold_the_hot_key(by, where, in); }, in.results.at(does.processes)));
    }
  }
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;
  ~processes() {
    for (const auto child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

  void await(const std::function<bool()>& done) {
    const auto deadline = clock::now() + std::chrono::minutes{1};
    while (!done()) {
      if (in_.now == stage::over) break;
      throw_if_one_has_ended();
      if (clock::now() > deadline) throw std::runtime_error{"the processes did not get ready"};
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  /// After the stage `over`.
  tally join() {
    bool has_failed = false;
    while (!children_.empty()) {
      int status = 0;
      waitpid(children_.back(), &status, 0);
      children_.pop_back();
      has_failed = has_failed || status != 0;
    }
    if (has_failed) fail();
    tally all;
    for (const auto& each : in_.results) all.add(each.counted);
    return all;
  }

 private:
  void throw_if_one_has_ended() {
    for (auto child = children_.begin(); child != children_.end(); ++child) {
      if (waitpid(*child, nullptr, WNOHANG) == 0) continue;
      children_.erase(child);
      fail();
    }
  }
  [[noreturn]] void fail() const {
    for (const auto& each : in_.results) {
      if (each.failure[0] != '\0') throw std::runtime_error{each.failure.data()};
    }
    throw std::runtime_error{"a process ended early"};
  }

  arena& in_;
  std::vector<pid_t> children_;
};

/// Keeps all versions of all rows alive that are written from now on.
class open_snapshot {
 public:
  explicit open_snapshot(const place& where) : connection_{connect(where)} {
    work_.emplace(*connection_);
    work_->exec("SELECT count(*) FROM pg_class");
  }

 private:
  std::unique_ptr<pqxx::connection> connection_;
  std::optional<pqxx::transaction<pqxx::isolation_level::repeatable_read>> work_;
};

server_reading operator-(const server_reading& after, const server_reading& before) {
  return {.statements = after.statements - before.statements,
          .wal_bytes = after.wal_bytes - before.wal_bytes,
          .transactions = after.transactions - before.transactions,
          .cpu_seconds = after.cpu_seconds - before.cpu_seconds};
}

}  // namespace

measured measure(const plan& does, const protocol& by) {
  const shared_arena shared;
  arena& in = *shared;
  const scratch ours{by.runs_on, does};
  const auto& where = ours.where();
  processes racing{does, by, where, in};  // forked before this process has any thread
  by.build(where);
  std::optional<server_meter> meter;
  if (by.runs_on == engine::postgres) meter.emplace(where);
  std::optional<open_snapshot> snapshot;
  if (does.beside_a_snapshot) snapshot.emplace(where);

  in.now = stage::entering;
  const bool has_holder = does.does == act::refused || does.does == act::queue;
  racing.await(
      [&] { return in.entered == does.processes * does.threads && (in.is_held || !has_holder); });
  in.now = stage::warming;
  std::this_thread::sleep_for(does.warm_up);

  measured result;
  const auto before = meter ? meter->read() : server_reading{};
  const auto begun = clock::now();
  auto expected = stage::warming;  // not when a process has failed meanwhile
  in.now.compare_exchange_strong(expected, stage::measuring);
  std::this_thread::sleep_until(begun + does.length);
  result.length = clock::now() - begun;
  const auto during = meter ? meter->read() - before : server_reading{};
  in.now = stage::over;
  snapshot.reset();
  result.counted = racing.join();
  if (meter) result.server = {.during = during, .tables = meter->tables()};
  return result;
}

}  // namespace rowlock::race
