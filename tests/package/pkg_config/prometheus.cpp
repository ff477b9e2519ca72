// A program whose locks are counted for Prometheus.
#include <prometheus/registry.h>

#include <memory>
#include <rowlock/prometheus.hpp>

int main() { const rowlock::prometheus_observer metrics{std::make_shared<prometheus::Registry>()}; }
