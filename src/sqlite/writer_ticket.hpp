// The order in which those who want to write to a file get their turn.
#ifndef ROWLOCK_SQLITE_WRITER_TICKET_HPP
#define ROWLOCK_SQLITE_WRITER_TICKET_HPP

#include <optional>

#include "rowlock/detail/home_process.hpp"
#include "sqlite/busy_wait.hpp"
#include "sqlite/ticket_file.hpp"

struct sqlite3;

namespace rowlock::on_sqlite {

/// A place in the queue of the database's writers, from the constructor on, which waits until it is
/// the first, at most until `end`, to the destructor, which calls the next. First come, first
/// served, among all processes. It only makes an order: who may write is decided by SQLite. So
/// whoever has waited until `end` in vain may try all the same.
///
/// Without a queue where nobody else can have the database: in memory, or temporary.
///
/// Thread-safety: one thread at a time.
class write_turn {
 public:
  /// Throws `error` (unavailable).
  write_turn(sqlite3* database, patience::clock::time_point end);
  write_turn(const write_turn&) = delete;
  write_turn& operator=(const write_turn&) = delete;
  ~write_turn();

 private:
  /// None when there was none to be had until `end`: somebody keeps all of them.
  [[nodiscard]] std::optional<turnstile_file::ticket> take_ticket(patience::clock::time_point end);
  void wait_to_be_first(patience::clock::time_point end);
  /// Gives a ticket back and calls whoever comes after it.
  void leave(turnstile_file::ticket left) noexcept;

  detail::home_process home_;
  std::optional<turnstile_file> queue_;
  turnstile_file::ticket ticket_ = 0;
};

}  // namespace rowlock::on_sqlite

#endif
