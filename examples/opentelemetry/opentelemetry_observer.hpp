// An observer that counts events of leases and of transactions with OpenTelemetry. Copy it, and add
// what you need.
#ifndef ROWLOCK_EXAMPLES_OPENTELEMETRY_OBSERVER_HPP
#define ROWLOCK_EXAMPLES_OPENTELEMETRY_OBSERVER_HPP

#include <opentelemetry/context/context.h>
#include <opentelemetry/metrics/meter.h>
#include <opentelemetry/metrics/sync_instruments.h>
#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/nostd/unique_ptr.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "rowlock/observer.hpp"

/// Counts by lock type, without scope and number: keep your types few, since each is a series of
/// its own. (`rowlock::prometheus_observer` bounds them.) The provider of the meter must outlive
/// it.
///
/// Thread-safety: as the instruments, any thread.
class opentelemetry_observer final : public rowlock::observer {
 public:
  using meter = opentelemetry::metrics::Meter;

  explicit opentelemetry_observer(opentelemetry::nostd::shared_ptr<meter> from)
      : grants_{from->CreateUInt64Counter("rowlock.grants", "Leases, row locks, versions, fences")},
        refusals_{from->CreateUInt64Counter("rowlock.refusals", "Refused attempts")},
        losses_{from->CreateUInt64Counter("rowlock.losses", "Leases lost before their release")},
        takeovers_{from->CreateUInt64Counter("rowlock.takeovers", "Leases that ran out")},
        faults_{from->CreateUInt64Counter("rowlock.faults", "Failed calls of the store")},
        missed_{from->CreateUInt64Counter("rowlock.missed_events", "Events that were dropped")},
        waits_{from->CreateDoubleHistogram("rowlock.wait", "How long callers waited", "s")},
        holds_{from->CreateDoubleHistogram("rowlock.hold", "How long keys were held", "s")} {}

  void acquired(const rowlock::acquired_event& event) override {
    grants_->Add(1, of(event.key, "mode", "lease"));
  }
  void refused(const rowlock::refused_event& event) override {
    refusals_->Add(1, of(event.refusal.key, "reason", word(event.refusal.reason)));
  }
  void waited(const rowlock::waited_event& event) override {
    waits_->Record(seconds(event.waited), of(event.key), no_context());
  }
  void expired_takeover(const rowlock::expired_takeover_event& event) override {
    takeovers_->Add(1, of(event.key));
  }
  void lost(const rowlock::lost_event& event) override {
    losses_->Add(1, of(event.key, "reason", word(event.reason)));
  }
  void released(const rowlock::released_event& event) override {
    if (event.result == rowlock::release_result::deferred) return;
    holds_->Record(seconds(event.held_for), of(event.key), no_context());
  }
  void fault(const rowlock::fault_event& event) override {
    faults_->Add(1, of(event.key, "operation", word(event.operation)));
  }
  void transaction(const rowlock::transaction_event& event) override {
    if (event.result == rowlock::transaction_result::granted) {
      grants_->Add(1, of(event.key, "mode", word(event.work)));
    }
    if (event.refusal) refusals_->Add(1, of(event.key, "reason", word(event.refusal->reason)));
  }
  void missed(std::size_t events) override { missed_->Add(events); }

 private:
  using attributes = std::map<std::string, std::string>;
  template <class Instrument>
  using owned = opentelemetry::nostd::unique_ptr<Instrument>;
  using counter = owned<opentelemetry::metrics::Counter<std::uint64_t>>;
  using histogram = owned<opentelemetry::metrics::Histogram<double>>;

  static attributes of(const rowlock::lock_key& key) {
    const auto begin = key.type.find('/') + 1;  // 0 where there is no scope
    return {{"type", key.type.substr(begin, key.type.find('#') - begin)}};
  }
  static attributes of(const rowlock::lock_key& key, const char* name, std::string value) {
    auto all = of(key);
    all[name] = std::move(value);
    return all;
  }
  template <class Shown>
  static std::string word(const Shown& shown) {
    std::ostringstream out;
    out << shown;
    return out.str();
  }
  static opentelemetry::context::Context no_context() { return {}; }
  static double seconds(std::chrono::microseconds time) {
    return std::chrono::duration<double>{time}.count();
  }

  counter grants_;
  counter refusals_;
  counter losses_;
  counter takeovers_;
  counter faults_;
  counter missed_;
  histogram waits_;
  histogram holds_;
};

#endif
