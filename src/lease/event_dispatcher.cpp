// Tells an observer.
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

void describe(fault_event& told, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const error& fault) {
    told.code = fault.code();
    told.text = fault.what();
  } catch (const std::exception& other) {
    told.text = other.what();
  } catch (...) {
    told.text = "an exception that is no std::exception";
  }
}

template <class Call>
void swallowing(const Call& call) noexcept {
  try {
    call();
  } catch (...) {  // it is the observer's own affair
  }
}

}  // namespace

herald::herald(std::shared_ptr<observer> told)
    : audience_{told ? std::make_shared<audience>(std::move(told)) : nullptr} {
  if (!audience_) return;
  start_thread("tell the observer", [this] { messenger_ = std::make_unique<messenger>(); });
}

void herald::queue(call event) {
  const std::scoped_lock lock{mutex_};
  if (!messenger_) return;
  if (audience_->queued >= longest_queue) {
    ++audience_->missed;
    return;
  }
  messenger_->tell([to = audience_, told = std::move(event)] { deliver(*to, told); });
  ++audience_->queued;
}

void herald::deliver(audience& to, const call& event) noexcept {
  --to.queued;
  if (const auto missed = to.missed.exchange(0); missed != 0) {
    swallowing([&] { to.hearing->missed(missed); });
  }
  swallowing([&] { event(*to.hearing); });
}

void herald::tell_lost(const kept_leases& lost, loss_reason why,
                       boot_clock::time_point now) noexcept {
  for (const auto& lease : lost) {
    tell(&observer::lost, [&] {
      return lost_event{lease->key, lease->token, why, as_told(now - lease->asked_at)};
    });
  }
}

void herald::tell_fault(fault_operation of, const lock_key& first, std::size_t keys,
                        const std::exception_ptr& thrown, boot_clock::duration took) noexcept {
  tell(&observer::fault, [&] {
    fault_event told{.operation = of, .key = first, .keys = keys, .took = as_told(took)};
    describe(told, thrown);
    return told;
  });
}

void herald::close() noexcept {
  std::unique_ptr<messenger> ending;  // ended without the mutex: events still to be told may tell
  const std::scoped_lock lock{mutex_};
  ending = std::move(messenger_);
}

}  // namespace detail

}  // namespace rowlock
