// What the wake of one waiter costs beside waiters for other keys; no database.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "wait/outage.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

acquire_request request_for(std::size_t number) {
  return {.key = {"job", std::to_string(number)},
          .owner = make_owner_id(),
          .holder = "bench",
          .ttl = 30s};
}

refusal held(const lock_key& key) {
  return {.reason = refusal_reason::held, .key = key, .holder = "other", .remaining = 1h};
}

/// A release is announced, the waiter is tried and refused. Nothing else is due for an hour.
void wake_one_of(benchmark::State& state) {
  outage away;
  wait_queue queue{system_time(),
                   {.return_grant = [](const auto&, version) {},
                    .return_if_granted = [](const auto&, version) {}},
                   away};
  const retry_policy patient{.first_pause = 2h, .longest_pause = 24h};
  const auto keys = static_cast<std::size_t>(state.range(0));
  std::vector<std::shared_ptr<waiter>> waiting;
  for (std::size_t i = 0; i < keys; ++i) {
    auto request = request_for(i);
    const auto refused = held(request.key);
    waiting.push_back(
        queue.join(std::move(request), patient, {.refused = refused}, [](const wait_result&) {}));
  }
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    queue.released(waiting[next]->request.key);
    next = (next + 1) % keys;
    const auto work = queue.await_work();
    std::array results{acquire_result{{.status = acquire_status::held,
                                       .version = version{1},
                                       .holder = "other",
                                       .remaining = 1h}}};
    queue.answered(std::vector<std::shared_ptr<waiter>>{work->heads.begin(), work->heads.end()},
                   results, system_time()->now());
  }
}
BENCHMARK(wake_one_of)->Arg(1)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace rowlock::detail

BENCHMARK_MAIN();
