// rowlock_cluster_bench: what it costs that all nodes of a Galera cluster are written to.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "port.hpp"
#include "rowlock/soci_store.hpp"
#include "support/galera_cluster.hpp"

namespace rowlock::bench {
namespace {

using tests::galera_cluster;

/// The same threads, each with a key of its own, write through so many of the nodes.
void acquire_and_release_by(benchmark::State& state,
                            const std::vector<std::unique_ptr<soci_store>>& nodes) {
  const auto thread = static_cast<std::size_t>(state.thread_index());
  auto& locks = *nodes[thread % static_cast<std::size_t>(state.range(0))];
  const lock_key key{.type = "pair", .source_id = std::to_string(thread)};
  for (auto _ : state) hold_once(locks, key);
  state.SetItemsProcessed(state.iterations());
}

}  // namespace
}  // namespace rowlock::bench

int main(int argc, char** argv) {
  using namespace rowlock::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;

  const galera_cluster cluster;
  rowlock::migrate(cluster.url(0));
  std::vector<std::unique_ptr<rowlock::soci_store>> nodes;
  for (std::size_t node = 0; node < galera_cluster::size; ++node) {
    nodes.push_back(std::make_unique<rowlock::soci_store>(
        rowlock::database_url{cluster.url(node)}.target(), rowlock::soci_options{.pool_size = 8}));
  }
  std::atomic<bool> any_failed = false;
  benchmark::RegisterBenchmark("galera/acquire_and_release",
                               [&](benchmark::State& state) {
                                 try {
                                   acquire_and_release_by(state, nodes);
                                 } catch (const std::exception& problem) {
                                   any_failed = true;
                                   state.SkipWithError(problem.what());
                                 }
                               })
      ->ArgName("writing_nodes")
      ->Arg(1)
      ->Arg(3)
      ->Threads(6)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return any_failed ? 1 : 0;
}
