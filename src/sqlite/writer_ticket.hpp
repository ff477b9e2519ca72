// The order in which those who want to write to a file get their turn.
#ifndef ROWLOCK_SQLITE_WRITER_TICKET_HPP
#define ROWLOCK_SQLITE_WRITER_TICKET_HPP

#include <optional>

#include "rowlock/detail/home_process.hpp"
#include "sqlite/busy_wait.hpp"
#include "sqlite/ticket_file.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// A place in the queue of the database's writers, from the constructor on, which waits until it is
/// the first, at most until `end`, to the destructor, which calls the next. First come, first
/// served, among all processes. It only makes an order: who may write is decided by SQLite. So
/// whoever has waited until `end` in vain may try all the same.
///
/// Without a queue where nobody else can have the database: in memory, or temporary.
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
  /// None when there was none to be had until `end`: somebody keeps all of them.
  [[nodiscard]] std::optional<ticket_file::ticket> take_ticket(busy_wait::clock::time_point end);
  void wait_to_be_first(busy_wait::clock::time_point end);
  /// Gives a ticket back and calls whoever comes after it.
  void leave(ticket_file::ticket left) noexcept;

  detail::home_process home_;
  std::optional<ticket_file> queue_;
  ticket_file::ticket ticket_ = 0;
};

}  // namespace rowlock::sqlite

#endif
