// The place of a writer in the queue of a SQLite file.
#ifndef ROWLOCK_SQLITE_WRITER_TICKET_HPP
#define ROWLOCK_SQLITE_WRITER_TICKET_HPP

#include <optional>

#include "rowlock/detail/home_process.hpp"
#include "sqlite/busy_wait.hpp"
#include "sqlite/ticket_file.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// A ticket in the queue of the database's writers: first come, first served, among all processes.
/// The constructor waits until the ticket is the first, at most until `end`. The destructor wakes
/// the next writer.
///
/// The queue only makes an order: SQLite decides which connection may write. So a writer that has
/// waited until `end` in vain may try all the same. There is no queue if no other process can have
/// the database: in memory, or temporary.
///
/// Thread-safety: one thread at a time.
class writer_ticket {
 public:
  /// Throws `error` (unavailable).
  writer_ticket(sqlite3* database, busy_wait::clock::time_point end);
  writer_ticket(const writer_ticket&) = delete;
  writer_ticket& operator=(const writer_ticket&) = delete;
  ~writer_ticket();

 private:
  /// None if there was no ticket until `end`: other processes keep all of them.
  [[nodiscard]] std::optional<ticket_file::ticket> take_ticket(busy_wait::clock::time_point end);
  void wait_to_be_first(busy_wait::clock::time_point end);
  /// Gives a ticket back, and wakes the writer after it.
  void leave(ticket_file::ticket left) noexcept;

  detail::home_process home_;
  std::optional<ticket_file> queue_;
  ticket_file::ticket ticket_ = 0;
};

}  // namespace rowlock::sqlite

#endif
