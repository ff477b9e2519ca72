// A program whose locks are counted with OpenTelemetry. It exports nothing: set a meter provider
// with a reader and an exporter first, as for the program's other metrics.
#include <opentelemetry/metrics/provider.h>

#include <iostream>
#include <memory>

#include "opentelemetry_observer.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/testing/memory_store.hpp"

int main() {
  const auto provider = opentelemetry::metrics::Provider::GetMeterProvider();
  const auto metrics = std::make_shared<opentelemetry_observer>(provider->GetMeter("rowlock"));
  const rowlock::transaction_observation transactions{metrics};

  rowlock::memory_store store;  // or a database
  rowlock::lock_table locks{store, {.observer = metrics}};
  const auto held = locks.try_acquire({"invoice", "42"});
  std::cout << (held.acquired() ? "acquired" : "refused") << '\n';
}
