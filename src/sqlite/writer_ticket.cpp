// The place of a writer in the queue of a SQLite file.
#include "sqlite/writer_ticket.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "sqlite/database_file.hpp"

namespace rowlock::sqlite {

namespace {

/// A process that is killed wakes no waiter.
constexpr std::chrono::milliseconds longest_sleep{20};

/// Far more than a running process needs from its lock to its count; after these it counts as
/// stopped.
constexpr int tries_for_a_newcomer = 1000;

}  // namespace

writer_ticket::writer_ticket(sqlite3* database, busy_wait::clock::time_point end) {
  const auto path = path_of(database);
  if (path.empty()) return;
  queue_.emplace(path);
  const auto taken = queue_->is_there() ? take_ticket(end) : std::nullopt;
  if (taken) {
    ticket_ = *taken;
    wait_to_be_first(end);
  } else {
    queue_.reset();
  }
}

writer_ticket::~writer_ticket() {
  // A child of fork() would give up the ticket of its parent.
  if (queue_ && home_.is_here()) leave(ticket_);
}

std::optional<ticket_file::ticket> writer_ticket::take_ticket(busy_wait::clock::time_point end) {
  // The lock precedes the second read of the count, so that a process with a later ticket sees this
  // one taken.
  for (int tries = 0;; ++tries) {
    const auto last = queue_->last();
    if (queue_->try_lock(last)) {
      // The queue is empty. The ticket is used again without writing the file: that write costs
      // more than all the rest.
      if (queue_->last() == last) return last;
      leave(last);
    } else if (queue_->try_lock(last + 1)) {
      if (queue_->count_up(last)) return last + 1;
      leave(last + 1);
    } else if (tries < tries_for_a_newcomer) {
      std::this_thread::yield();
    } else if (busy_wait::clock::now() >= end) {
      return {};
    } else {
      // Its process was stopped between lock and count. The ticket becomes void, and the process
      // will see that.
      queue_->count_up(last);
    }
  }
}

void writer_ticket::wait_to_be_first(busy_wait::clock::time_point end) {
  while (queue_->is_anybody_before(ticket_)) {
    const auto wakes = queue_->wakes_of(ticket_);
    // The writer before this one may have left, and woken this ticket, before `wakes` was read.
    if (!queue_->is_anybody_before(ticket_)) return;
    const auto left = end - busy_wait::clock::now();
    if (left <= busy_wait::clock::duration::zero()) return;
    queue_->wait_for_wake(ticket_, wakes, std::min<std::chrono::nanoseconds>(left, longest_sleep));
  }
}

void writer_ticket::leave(ticket_file::ticket left) noexcept {
  queue_->unlock(left);
  if (const auto next = queue_->first_after(left)) queue_->wake(*next);
}

}  // namespace rowlock::sqlite
