// Queued events for an observer.
#include "lease/event_dispatcher.hpp"

#include <ostream>
#include <utility>

#include "base/threads.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

std::ostream& operator<<(std::ostream& out, loss_reason shown) {
  switch (shown) {
    case loss_reason::ran_out:
      return out << "run out";
    case loss_reason::taken_away:
      return out << "taken away";
    case loss_reason::closed:
      return out << "lock_table closed";
    case loss_reason::no_progress:
      return out << "no progress";
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, fault_operation shown) {
  switch (shown) {
    case fault_operation::acquire:
      return out << "acquire";
    case fault_operation::read:
      return out << "read";
    case fault_operation::renew:
      return out << "renew";
    case fault_operation::release:
      return out << "release";
    case fault_operation::note:
      return out << "note";
  }
  return out;
}

namespace detail {

namespace {

constexpr std::size_t longest_queue = 10'000;

void describe(fault_event& event, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const error& fault) {
    event.code = fault.code();
    event.text = fault.what();
  } catch (const std::exception& other) {
    event.text = other.what();
  } catch (...) {
    event.text = "an exception that is no std::exception";
  }
}

template <class Call>
void swallowing(const Call& call) noexcept {
  try {
    call();
  } catch (...) {  // an observer that throws must not end the process
  }
}

}  // namespace

event_dispatcher::event_dispatcher(std::shared_ptr<observer> target)
    : sink_{target ? std::make_shared<sink>(std::move(target)) : nullptr} {
  if (!sink_) return;
  std::unique_ptr<serial_executor> started;
  start_thread("tell the observer", [&] { started = std::make_unique<serial_executor>(); });
  const checked_lock lock{mutex_};
  executor_ = std::move(started);
}

void event_dispatcher::queue(call event) {
  const detail::checked_lock lock{mutex_};
  if (!executor_) return;
  if (sink_->queued >= longest_queue) {
    ++sink_->missed;
    return;
  }
  executor_->post([to = sink_, event = std::move(event)] { deliver(*to, event); });
  ++sink_->queued;
}

void event_dispatcher::deliver(sink& to, const call& event) noexcept {
  --to.queued;
  if (const auto missed = to.missed.exchange(0); missed != 0) {
    swallowing([&] { to.target->missed(missed); });
  }
  swallowing([&] { event(*to.target); });
}

void event_dispatcher::emit_lost(const lease_states& lost, loss_reason why,
                                 boot_clock::time_point now) noexcept {
  for (const auto& lease : lost) {
    emit(&observer::lost, [&] {
      return lost_event{lease->key, lease->token, why, to_microseconds(now - lease->requested_at),
                        lease->correlation_id};
    });
  }
}

void event_dispatcher::emit_fault(fault_operation of, const lock_key& first, std::size_t keys,
                                  const std::exception_ptr& thrown, boot_clock::duration took,
                                  std::string_view correlation_id) noexcept {
  emit(&observer::fault, [&] {
    fault_event event{.operation = of,
                      .key = first,
                      .keys = keys,
                      .took = to_microseconds(took),
                      .correlation_id = std::string{correlation_id}};
    describe(event, thrown);
    return event;
  });
}

void event_dispatcher::close() noexcept {
  // Destroyed after the mutex is unlocked: queued events may emit others.
  std::unique_ptr<serial_executor> ended;
  const detail::checked_lock lock{mutex_};
  ended = std::move(executor_);
}

}  // namespace detail

}  // namespace rowlock
