// Keeps the leases of one lock_table.
#include <array>
#include <chrono>
#include <exception>
#include <vector>

#include "base/short_patience.hpp"
#include "base/start_thread.hpp"
#include "lease/lease_keeper.hpp"

namespace rowlock::detail {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds last_releases{2};

std::unique_ptr<grouping_store> grouped(store& rows, const group_options& options) {
  return options.at_most == 1 ? nullptr : std::make_unique<grouping_store>(rows, options);
}

}  // namespace

keeper::keeper(store& rows, lock_options options)
    : options_{std::move(options)},
      grouped_{grouped(rows, options_.grouping)},
      rows_{grouped_ != nullptr ? *grouped_ : rows},
      events_{options_.observer},
      book_{options_.time, options_.margin, options_.renew},
      waiting_{
          rows_,
          options_.time,
          {.keep = [this](const wanted_lease& wanted, const acquire_answer& granted,
                          boot_clock::time_point asked) { return keep(wanted, granted, asked); },
           .give_back =
               [this](const wanted_lease& unwanted, version granted) {
                 give_back({unwanted, granted, now()});
               },
           .give_back_if_granted =
               [this](const wanted_lease& unwanted, version handed_by) {
                 give_back_if_granted(unwanted, handed_by);
               }},
          outage_,
          events_},
      crew_{options_.blocking_threads, options_.time} {}

std::optional<keeper::visit> keeper::enter() {
  const std::scoped_lock lock{mutex_};
  if (closed_) return std::nullopt;
  ++visitors_;
  return visit{*this};
}

keeper::visit::~visit() {
  if (visited_ == nullptr || !visited_->home_.is_here()) return;
  const std::scoped_lock lock{visited_->mutex_};
  --visited_->visitors_;
  visited_->visitor_left_.notify_all();
}

void keeper::start_threads() {
  const std::scoped_lock lock{mutex_};
  start_thread("keep leases with", [this] {
    if (!messenger_) messenger_.emplace();
    if (!renewer_) {
      renewer_.emplace(rows_, book_, *messenger_, events_, options_.time,
                       [this](const lock_key& key) { waiting_.released(key); });
    }
    if (!renewer_thread_.joinable()) renewer_thread_ = std::thread{[this] { renewer_->run(); }};
    if (!watcher_thread_.joinable()) watcher_thread_ = std::thread{[this] { watch(); }};
  });
}

void keeper::watch() {
  for (auto overdue = book_.wait_for_overdue(); !overdue.empty();
       overdue = book_.wait_for_overdue()) {
    messenger_->tell(telling_lost(overdue));
    events_.tell_lost(overdue, loss_reason::ran_out, now());
  }
}

std::shared_ptr<kept_lease> keeper::keep(const wanted_lease& wanted, const acquire_answer& granted,
                                         boot_clock::time_point asked) {
  if (granted.took_over_expired) {
    events_.tell(&observer::expired_takeover, [&] {
      return expired_takeover_event{wanted.request.key, *granted.version, granted.holder,
                                    -granted.remaining.value_or(0us)};
    });
  }
  auto kept = std::make_shared<kept_lease>(wanted, *granted.version, asked);
  kept->hold_until = now() + wanted.hold_at_least;
  if (book_.add(kept, asked)) return kept;
  kept->hold_until = {};
  give_back(*kept);
  return nullptr;
}

void keeper::give_back(const kept_lease& unwanted) {
  renewer_->defer({{unwanted, now()}}, renewer::tried::never);
}

void keeper::give_back_if_granted(const wanted_lease& unwanted, version handed_by) {
  renewer_->defer({{unwanted, handed_by, now()}}, renewer::tried::never);
}

note_result keeper::write_note(const note_request& request) {
  const auto here = enter();
  if (!here) return note_result::lost;
  auto answer = note_answer::busy;
  const auto began = now();
  try {
    try_for_a_moment(*options_.time, closing(), [&] {
      answer = rows_.write_note(request);
      return answer != note_answer::busy;
    });
  } catch (...) {
    events_.tell_fault(fault_operation::note, request.key, 1, std::current_exception(),
                       now() - began);
    throw;
  }
  switch (answer) {
    case note_answer::written:
      return note_result::written;
    case note_answer::lost:
      return note_result::lost;
    case note_answer::busy:
      break;
  }
  return note_result::busy;
}

void keeper::end_leases() noexcept {
  const auto left = book_.end_all();
  std::vector<deferred_release> to_release;
  to_release.reserve(left.size());
  for (const auto& lease : left) to_release.emplace_back(*lease, now());
  messenger_->tell(telling_lost(left));
  events_.tell_lost(left, loss_reason::closed, now());
  renewer_->defer(std::move(to_release), renewer::tried::never);
}

// A store that hangs is waited for once: what has to be asked is asked at the same time, and
// nothing when that has taken too long.
void keeper::close() noexcept {
  if (!home_.is_here()) return;
  const auto end = boot_clock::now() + last_releases;
  closing_.request_stop();
  waiting_.stop();
  bool has_leases = false;
  {
    const std::scoped_lock lock{mutex_};
    closed_ = true;
    has_leases = renewer_thread_.joinable();
  }
  if (has_leases) {
    renewer_->close_by(end);
    end_leases();
  }
  {
    std::unique_lock lock{mutex_};
    visitor_left_.wait(lock, [this] { return visitors_ == 0; });
  }
  crew_.close();
  waiting_.close();
  if (!renewer_thread_.joinable()) return events_.close();
  renewer_->close_by(end);
  end_leases();  // what was granted meanwhile
  book_.close();
  if (watcher_thread_.joinable()) watcher_thread_.join();
  renewer_thread_.join();
  messenger_.reset();
  events_.close();
}

}  // namespace rowlock::detail
