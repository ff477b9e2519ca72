// A Prometheus server that reads the metrics of a program.
#include <gtest/gtest.h>
#include <prometheus/exposer.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "prometheus/observed_registry.hpp"
#include "prometheus/prometheus_server.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/testing/memory_store.hpp"

namespace rowlock::tests {
namespace {

TEST(Scrape, BringsTheMetricsIntoAPrometheusServer) {
  const observed_registry metrics;
  ::prometheus::Exposer exposer{"127.0.0.1:0"};
  exposer.RegisterCollectable(metrics.registry());
  prometheus_server server{exposer.GetListeningPorts().front()};

  memory_store store;
  const transaction_observation observing{metrics.observer()};
  lock_table locks{store, {.observer = metrics.observer()}};
  auto held = *locks.try_acquire({"job", "a"});
  EXPECT_FALSE(locks.try_acquire({"job", "a"}).acquired());
  server.await("rowlock_grants_total{mode='lease',type='job'}", "1");
  server.await("rowlock_refusals_total{type='job',reason='held'}", "1");
  server.await("rowlock_hold_seconds_count{mode='lease',type='job'}", "0");

  held.release();
  (void)with_row_lock<memory_transaction>(store, {"account", "7"}, [](memory_transaction&) {});
  server.await("rowlock_hold_seconds_count{mode='lease',type='job'}", "1");
  server.await("rowlock_hold_seconds_count{mode='row_lock',type='account'}", "1");
  server.await("sum(rowlock_releases_total)", "1");

  metrics.observe_each_event("a\"} 1\n\xff");
  server.await("rowlock_takeovers_total{type='a___1__'}", "1");
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace rowlock::tests
