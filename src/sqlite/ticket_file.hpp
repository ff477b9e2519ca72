// The queue file beside a database, which puts its writers in order.
#ifndef ROWLOCK_SQLITE_TICKET_FILE_HPP
#define ROWLOCK_SQLITE_TICKET_FILE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rowlock::sqlite {

/// The file `<database>-rowlock`. Tickets are numbers, counted up in the file for ever. A queued
/// writer has a lock on the byte of its ticket; the kernel drops the lock when the process dies.
///
/// The content of the file only hands out numbers and wakes sleepers: if it is damaged, the order
/// is lost, and nothing else. It is mapped for futex calls alone, and only once a writer has to
/// wait. It is read and written by system calls, which a truncated file does not kill.
///
/// Thread-safety: one thread at a time. The locks belong to the object, not to the process, so two
/// objects of one process exclude each other as well.
class ticket_file {
 public:
  using ticket = std::uint64_t;

  /// Opens the file. Creates a missing one with the permissions of the database, but not without a
  /// database. Throws `error` (unavailable).
  explicit ticket_file(const std::string& database);
  ticket_file(const ticket_file&) = delete;
  ticket_file& operator=(const ticket_file&) = delete;
  /// Closes the file. The locks stay if a child of fork() has it open as well.
  ~ticket_file();

  /// False without a database file: a database in memory can have a name, too.
  [[nodiscard]] bool is_there() const noexcept { return file_ != -1; }

  // The members below require `is_there()`.

  /// The ticket that was handed out last.
  [[nodiscard]] ticket last() const;
  /// Counts from `before` to the next ticket; false if `before` is not the last any more. Two
  /// processes that do so at the same time may both succeed, or count back for a moment. That, too,
  /// costs only the order.
  bool count_up(ticket before) const;

  /// False if another writer has it.
  bool try_lock(ticket wanted) const;
  void unlock(ticket locked) const noexcept;
  /// Whether another writer has a ticket before `mine`.
  [[nodiscard]] bool is_anybody_before(ticket mine) const;
  /// The first ticket after `mine` that another writer has.
  [[nodiscard]] std::optional<ticket> first_after(ticket mine) const noexcept;

  /// How often the ticket has been woken so far, for `wait_for_wake`.
  [[nodiscard]] std::uint32_t wakes_of(ticket mine) const noexcept;
  void wake(ticket number) noexcept;
  /// Waits until the ticket is woken for the first time after `wakes`; may return earlier.
  void wait_for_wake(ticket mine, std::uint32_t wakes, std::chrono::nanoseconds longest) noexcept;

 private:
  /// Without a mapping, an invalid address: the kernel reports it.
  [[nodiscard]] void* address_of_wake_word(ticket number) noexcept;

  int file_ = -1;
  void* page_ = nullptr;  // null: not mapped so far
};

}  // namespace rowlock::sqlite

#endif
