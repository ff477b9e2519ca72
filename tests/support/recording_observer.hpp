// An observer that records its events.
#ifndef ROWLOCK_TESTS_SUPPORT_RECORDING_OBSERVER_HPP
#define ROWLOCK_TESTS_SUPPORT_RECORDING_OBSERVER_HPP

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "rowlock/observer.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

class recording_observer final : public rowlock::observer {
 public:
  using event =
      std::variant<acquired_event, refused_event, waited_event, expired_takeover_event,
                   renewed_event, lost_event, released_event, fault_event, weak_setting_event>;

  void acquired(const acquired_event& caught) override { note(caught); }
  void refused(const refused_event& caught) override { note(caught); }
  void waited(const waited_event& caught) override { note(caught); }
  void expired_takeover(const expired_takeover_event& caught) override { note(caught); }
  void renewed(const renewed_event& caught) override { note(caught); }
  void lost(const lost_event& caught) override { note(caught); }
  void released(const released_event& caught) override { note(caught); }
  void fault(const fault_event& caught) override { note(caught); }
  void weak_setting(const weak_setting_event& caught) override { note(caught); }
  void missed(std::size_t events) override {
    const std::scoped_lock lock{mutex_};
    missed_ += events;
  }

  /// Runs after each event has been noted, in the thread that reported it.
  void then(std::function<void(const event&)> run) {
    const std::scoped_lock lock{mutex_};
    then_ = std::move(run);
  }

  /// The first event of its kind, or the first that comes.
  template <class Event>
  Event await() {
    std::unique_lock lock{mutex_};
    const Event* found = nullptr;
    const bool came = noted_.wait_for(lock, patience, [&] {
      for (const auto& each : events_) {
        if (found == nullptr) found = std::get_if<Event>(&each);
      }
      return found != nullptr;
    });
    if (!came) throw std::runtime_error{"no such event came"};
    return *found;
  }

  [[nodiscard]] std::vector<event> events() {
    const std::scoped_lock lock{mutex_};
    return events_;
  }
  [[nodiscard]] std::size_t missed_events() {
    const std::scoped_lock lock{mutex_};
    return missed_;
  }
  template <class Event>
  [[nodiscard]] std::size_t count() {
    std::size_t found = 0;
    for (const auto& each : events()) found += std::holds_alternative<Event>(each) ? 1U : 0U;
    return found;
  }

 private:
  void note(const event& caught) {
    std::function<void(const event&)> then;
    {
      const std::scoped_lock lock{mutex_};
      events_.push_back(caught);
      then = then_;
    }
    noted_.notify_all();
    if (then) then(caught);
  }

  std::mutex mutex_;
  std::condition_variable noted_;
  std::vector<event> events_;               // guarded by mutex_
  std::size_t missed_ = 0;                  // guarded by mutex_
  std::function<void(const event&)> then_;  // guarded by mutex_
};

}  // namespace rowlock::tests

#endif
