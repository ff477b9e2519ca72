// A user's first program with metrics, as in docs/metrics.md: compiles, links, counts a lock.
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <memory>
#include <rowlock/lock_table.hpp>
#include <rowlock/prometheus.hpp>
#include <rowlock/testing/memory_store.hpp>
#include <string>

int main() {
  const auto registry = std::make_shared<prometheus::Registry>();
  const auto metrics = std::make_shared<rowlock::prometheus_observer>(registry);
  prometheus::Exposer exposer{"127.0.0.1:0"};
  exposer.RegisterCollectable(registry);
  rowlock::memory_store store;
  {
    const rowlock::transaction_observation transactions{metrics};
    rowlock::lock_table locks{store, {.observer = metrics}};
    (void)locks.try_acquire({"invoice", "42"});
  }  // all events are delivered
  const auto text = prometheus::TextSerializer{}.Serialize(registry->Collect());
  const bool is_counted = text.find("type=\"invoice\"} 1\n") != std::string::npos;
  return is_counted ? 0 : 1;
}
