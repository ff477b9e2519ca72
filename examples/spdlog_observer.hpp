// An observer that writes events of leases to a spdlog logger. Copy it, and change texts and
// levels.
#ifndef ROWLOCK_EXAMPLES_SPDLOG_OBSERVER_HPP
#define ROWLOCK_EXAMPLES_SPDLOG_OBSERVER_HPP

#include <spdlog/logger.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "rowlock/observer.hpp"

/// One line an event: routine events are `debug`, contention `info`, faults and losses `warn` or
/// `error`. The logger may be shared and need not be asynchronous.
class spdlog_observer final : public rowlock::observer {
 public:
  explicit spdlog_observer(std::shared_ptr<spdlog::logger> log) : log_{std::move(log)} {}

  void acquired(const rowlock::acquired_event& event) override {
    log_->debug("{} acquired, token {}, took {} ms, waited {} ms", words(event.key),
                words(event.token), ms(event.took), ms(event.waited));
  }
  void refused(const rowlock::refused_event& event) override {
    log_->info("{}; took {} ms, waited {} ms", words(event.refusal), ms(event.took),
               ms(event.waited));
  }
  void waited(const rowlock::waited_event& event) override {
    log_->debug("{} waited for {} ms", words(event.key), ms(event.waited));
  }
  void expired_takeover(const rowlock::expired_takeover_event& event) override {
    log_->warn("{} taken over from {}, whose lease ran out {} ms ago", words(event.key),
               event.holder, ms(event.ran_out_ago));
  }
  void renewed(const rowlock::renewed_event& event) override {
    log_->debug("{} renewed, took {} ms, {} ms were left", words(event.key), ms(event.took),
                ms(event.left));
  }
  void lost(const rowlock::lost_event& event) override {
    log_->error("{} lost after {} ms: {}", words(event.key), ms(event.held_for),
                words(event.reason));
  }
  void released(const rowlock::released_event& event) override {
    const bool is_deferred = event.result == rowlock::release_result::deferred;
    log_->debug("{} {}{} after {} ms, took {} ms", words(event.key),
                is_deferred ? "not released yet" : "released",
                event.failed ? ", the work failed," : "", ms(event.held_for), ms(event.took));
  }
  void fault(const rowlock::fault_event& event) override {
    log_->error("{} of {} ({} keys) failed after {} ms: {}", words(event.operation),
                words(event.key), event.keys, ms(event.took), event.text);
  }
  void weak_setting(const rowlock::weak_setting_event& event) override {
    log_->warn("{}", event.text);
  }
  void transaction(const rowlock::transaction_event& event) override {
    log_->debug("{} {} {} after {} ms, try {}", words(event.work), words(event.key),
                words(event.result), ms(event.took), event.attempt);
  }
  void missed(std::size_t events) override {
    log_->warn("{} events were not logged: the logger is too slow", events);
  }

 private:
  template <class Shown>
  static std::string words(const Shown& shown) {
    std::ostringstream out;
    out << shown;
    return out.str();
  }
  static double ms(std::chrono::microseconds time) {
    return std::chrono::duration<double, std::milli>{time}.count();
  }

  std::shared_ptr<spdlog::logger> log_;
};

#endif
