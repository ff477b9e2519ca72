// The order in which those who want to write to a file get their turn.
#ifndef ROWLOCK_SQLITE_WRITE_TURN_HPP
#define ROWLOCK_SQLITE_WRITE_TURN_HPP

#include <optional>

#include "rowlock/home_process.hpp"
#include "sqlite/patience.hpp"
#include "sqlite/turnstile_file.hpp"

namespace SQLite {
class Database;
}

namespace rowlock::detail {

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
  write_turn(const SQLite::Database& database, patience::clock::time_point end);
  write_turn(const write_turn&) = delete;
  write_turn& operator=(const write_turn&) = delete;
  ~write_turn();

 private:
  [[nodiscard]] turnstile_file::ticket take_ticket();
  void wait_to_be_first(patience::clock::time_point end);
  /// Gives a ticket back and calls whoever comes after it.
  void leave(turnstile_file::ticket left) noexcept;

  home_process home_;
  std::optional<turnstile_file> queue_;
  turnstile_file::ticket ticket_ = 0;
};

}  // namespace rowlock::detail

#endif
