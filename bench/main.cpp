// rowlock_bench: what one lock costs, on each store.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "port.hpp"
#include "rowlock/lock_table.hpp"
#include "sets.hpp"
#include "subject.hpp"

namespace rowlock::bench {
namespace {

using namespace std::chrono_literals;

/// A store that all threads of a benchmark share, like the threads of one service.
struct service {
  explicit service(std::unique_ptr<subject> made)
      : database{std::move(made)}, locks{database->locks()} {}

  std::unique_ptr<subject> database;
  lock_table locks;
};

/// One service for all benchmarks on a database, made when the first of them runs: those that are
/// filtered out need no server.
class lazy_service {
 public:
  explicit lazy_service(std::unique_ptr<subject> (*make)()) : make_{make} {}
  service& get() {
    const std::lock_guard lock{mutex_};
    if (!made_) made_ = std::make_unique<service>(make_());
    return *made_;
  }

 private:
  std::unique_ptr<subject> (*make_)();
  std::mutex mutex_;
  std::unique_ptr<service> made_;  // guarded by mutex_
};

/// Threads do not compete: each has a key of its own.
lock_key key_of(const benchmark::State& state, const std::string& purpose) {
  return {.type = purpose, .source_id = std::to_string(state.thread_index())};
}

/// The store port: two statements.
void acquire_and_release(benchmark::State& state, service& measured) {
  auto& locks = measured.database->locks();
  const auto key = key_of(state, "pair");
  hold_once(locks, key);  // from here on the row is there, and the session open
  const bool is_alone = state.threads() == 1;
  const auto before = is_alone ? measured.database->statements() : std::nullopt;
  for (auto _ : state) hold_once(locks, key);
  if (!before) return;
  const auto between = *measured.database->statements() - *before - 1;
  state.counters["statements"] =
      static_cast<double>(between) / static_cast<double>(state.iterations());
}

/// The same through the public interface, with its deadlines and its renewer.
void with_lock(benchmark::State& state, service& measured) {
  const auto key = key_of(state, "with_lock");
  for (auto _ : state) {
    if (!measured.locks.with_lock(key, [] {}).kept())
      throw std::runtime_error{"not acquired, or not kept"};
  }
}

/// An attempt on a key that another lease holds.
void refused_acquire(benchmark::State& state, service& measured) {
  auto& locks = measured.database->locks();
  const auto key = key_of(state, "refused");
  const auto holder = request_for(key);
  const auto held = locks.acquire({&holder, 1}).front();
  if (held.status != acquire_status::granted)
    throw std::runtime_error{"the holder was not granted"};
  for (auto _ : state) {
    const auto request = request_for(key);
    if (locks.acquire({&request, 1}).front().status != acquire_status::held) {
      throw std::runtime_error{"not refused"};
    }
  }
  release(locks, holder, *held.version);
}

/// Begin, lock, commit.
void with_row_lock(benchmark::State& state, service& measured) {
  const auto lock = measured.database->connect();
  const auto key = key_of(state, "with_row_lock");
  for (auto _ : state) {
    if (!lock(key)) throw std::runtime_error{"not locked"};
  }
}

using body = void (*)(benchmark::State&, service&);

template <void (*Measure)(benchmark::State&, store&)>
void on_port(benchmark::State& state, service& measured) {
  Measure(state, measured.database->locks());
}

/// `keys` is how many each iteration has. A benchmark that throws is reported as failed, and noted
/// in `any_failed`.
void add(const std::string& name, body measure, std::size_t keys, lazy_service& where,
         const std::vector<int>& threads, std::atomic<bool>& any_failed) {
  const auto run = [&where, &any_failed, measure, keys](benchmark::State& state) {
    try {
      measure(state, where.get());
      state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys));
    } catch (const std::exception& problem) {
      any_failed = true;
      state.SkipWithError(problem.what());
    }
  };
  auto* added = benchmark::RegisterBenchmark(name.c_str(), run);
  // Most of the time is spent waiting for a disk or a server.
  added->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (const int count : threads) added->Threads(count);
}

}  // namespace
}  // namespace rowlock::bench

int main(int argc, char** argv) {
  using namespace rowlock::bench;
  lazy_service memory{make_memory_subject};
  lazy_service sqlite{make_sqlite_subject};
  lazy_service postgres{make_postgres_subject};
  lazy_service mariadb{make_mariadb_subject};

  const std::vector<std::pair<std::string, body>> measured{
      {"acquire_and_release", acquire_and_release},
      {"with_lock", with_lock},
      {"refused_acquire", refused_acquire},
      {"with_row_lock", with_row_lock}};
  std::atomic<bool> any_failed = false;
  for (const auto& [name, measure] : measured) {
    add("memory/" + name, measure, 1, memory, {1}, any_failed);
    add("sqlite/" + name, measure, 1, sqlite, {1}, any_failed);
    add("postgres/" + name, measure, 1, postgres, {1, 8, 32}, any_failed);
    add("mariadb/" + name, measure, 1, mariadb, {1, 8, 32}, any_failed);
  }

  struct set_benchmark {
    std::string name;
    body measure;
    std::size_t keys;
  };
  const std::vector<set_benchmark> sets{{"acquire_any", on_port<acquire_any>, any_at_most},
                                        {"acquire_all", on_port<acquire_all>, all_keys},
                                        {"acquire_each", on_port<acquire_each>, all_keys}};
  const std::vector<std::pair<std::string, lazy_service*>> databases{
      {"memory", &memory}, {"sqlite", &sqlite}, {"postgres", &postgres}, {"mariadb", &mariadb}};
  for (const auto& set : sets) {
    for (const auto& [name, where] : databases) {
      add(name + '/' + set.name, set.measure, set.keys, *where, {1}, any_failed);
    }
  }

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return any_failed ? 1 : 0;
}
