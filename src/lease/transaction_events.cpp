// The observations of transactions in this process.
#include <algorithm>
#include <atomic>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "lease/event_dispatcher.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "rowlock/observer.hpp"

namespace rowlock {

std::ostream& operator<<(std::ostream& out, transaction_work shown) {
  switch (shown) {
    case transaction_work::row_lock:
      return out << "row lock";
    case transaction_work::entity_lock:
      return out << "entity lock";
    case transaction_work::optimistic_commit:
      return out << "optimistic commit";
    case transaction_work::fence:
      return out << "fence";
    case transaction_work::retry:
      return out << "retry";
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, transaction_result shown) {
  switch (shown) {
    case transaction_result::granted:
      return out << "granted";
    case transaction_result::refused:
      return out << "refused";
    case transaction_result::committed:
      return out << "committed";
    case transaction_result::rolled_back:
      return out << "rolled back";
    case transaction_result::conflict:
      return out << "conflict";
  }
  return out;
}

namespace detail {

namespace {

/// All observations of one process. A child of fork() that observes makes another one, because the
/// mutex may be locked by a thread that the child does not have.
struct observations {
  explicit observations(observations* before) : of_parent{before} {}

  observations* const of_parent;  // keeps it reachable: it is never freed
  const home_process home;
  std::atomic<std::size_t> count{0};
  detail::checked_mutex mutex;
  std::vector<event_dispatcher*> all ROWLOCK_GUARDED_BY(mutex);
};

std::atomic<observations*>& present() noexcept {
  static constinit std::atomic<observations*> of_this_process{nullptr};
  return of_this_process;
}

/// Null if nothing is observed here.
observations* observed_here() noexcept {
  auto* const found = present().load();
  const bool is_observed = found != nullptr && found->count.load() != 0 && found->home.is_here();
  return is_observed ? found : nullptr;
}

/// The one of this process, made if there is none.
observations& of_this_process() {
  for (auto* found = present().load();;) {
    if (found != nullptr && found->home.is_here()) return *found;
    auto made = std::make_unique<observations>(found);
    if (present().compare_exchange_strong(found, made.get())) return *made.release();
  }
}

}  // namespace

bool transaction_report::is_observed() noexcept { return observed_here() != nullptr; }

void transaction_report::emit(transaction_result result,
                              const rowlock::refusal* why) const noexcept {
  auto* const here = observed_here();
  if (here == nullptr) return;
  const auto now = boot_clock::now();
  const auto held = granted_at_ ? now - *granted_at_ : boot_clock::duration::zero();
  if (result == transaction_result::granted) granted_at_ = now;
  const detail::checked_lock lock{here->mutex};
  for (auto* const to : here->all) {
    to->emit(&observer::transaction, [&] {
      auto event = *event_;
      event.result = result;
      event.took = to_microseconds(now - began_);
      event.held_for = to_microseconds(held);
      if (why != nullptr) event.refusal = *why;
      return event;
    });
  }
}

}  // namespace detail

transaction_observation::transaction_observation(std::shared_ptr<observer> target) {
  if (target == nullptr) throw error{errc::misuse, "the observer is null: name one"};
  events_ = detail::make_owned_at_home<detail::event_dispatcher>(std::move(target));
  auto& here = detail::of_this_process();
  const detail::checked_lock lock{here.mutex};
  here.all.push_back(events_.get());
  ++here.count;
}

transaction_observation::~transaction_observation() {
  if (!events_.get_deleter().home.is_here()) return;
  auto& here = detail::of_this_process();
  {
    const detail::checked_lock lock{here.mutex};
    std::erase(here.all, events_.get());
    --here.count;
  }
  events_->close();
}

}  // namespace rowlock
