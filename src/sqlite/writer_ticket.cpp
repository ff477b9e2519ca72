// The order in which those who want to write to a file get their turn.
#include "sqlite/writer_ticket.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "sqlite/database_file.hpp"

namespace rowlock::sqlite {

namespace {

/// Who is killed calls nobody.
constexpr std::chrono::milliseconds longest_sleep{20};

/// Far above what it takes somebody who runs; whoever takes longer was stopped.
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
  // A child of fork() would end the turn of its parent.
  if (queue_ && home_.is_here()) leave(ticket_);
}

std::optional<ticket_file::ticket> writer_ticket::take_ticket(busy_wait::clock::time_point end) {
  // The lock comes before the look at the count, so that whoever has a later ticket sees this one
  // taken.
  for (int tries = 0;; ++tries) {
    const auto last = queue_->last();
    if (queue_->try_lock(last)) {
      // Nobody is there. The file stays as it is: to write to it costs more than the rest of a
      // turn.
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
      // Stopped between the lock and the count: its ticket is void, and it will see that.
      queue_->count_up(last);
    }
  }
}

void writer_ticket::wait_to_be_first(busy_wait::clock::time_point end) {
  while (queue_->is_anybody_before(ticket_)) {
    const auto wakes = queue_->wakes_of(ticket_);
    // Whoever has left since then may have called before.
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
