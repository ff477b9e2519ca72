// The file beside a database through which its writers form a queue.
#ifndef ROWLOCK_SQLITE_TICKET_FILE_HPP
#define ROWLOCK_SQLITE_TICKET_FILE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rowlock::sqlite {

/// `<database>-rowlock`. Tickets are numbers, counted up in the file for ever. Whoever is in the
/// queue has a lock on the byte of its ticket; the kernel takes the lock away when the process
/// dies. What stands in the file only hands out numbers and wakes sleepers: a file that somebody
/// damages costs the order, nothing else. So it is mapped for the kernel's wake-ups alone, once
/// somebody has to wait, and read and written by system calls, which a truncation does not kill.
///
/// Thread-safety: one thread at a time. The locks belong to the object, not to the process, so two
/// objects of one process exclude each other as well.
class ticket_file {
 public:
  using ticket = std::uint64_t;

  /// Opens it; creates it with the permissions of the database where it is missing, but not without
  /// a database. Throws `error` (unavailable).
  explicit ticket_file(const std::string& database);
  ticket_file(const ticket_file&) = delete;
  ticket_file& operator=(const ticket_file&) = delete;
  /// Closes it. The locks stay if a child of fork() has it open as well.
  ~ticket_file();

  /// False without a database: names are given to those in memory, too.
  [[nodiscard]] bool is_there() const noexcept { return file_ != -1; }

  // The rest is for one that is there.

  /// The ticket that was given out last.
  [[nodiscard]] ticket last() const;
  /// From `before` to the one after it; false if it is not the last any more. Two who do that at
  /// the same time may both succeed, or count back for a moment: that, too, costs only the order.
  bool count_up(ticket before) const;

  /// False when somebody else has it.
  bool try_lock(ticket wanted) const;
  void unlock(ticket locked) const noexcept;
  /// Whether somebody else has a ticket before `mine`.
  [[nodiscard]] bool is_anybody_before(ticket mine) const;
  /// The next after `mine` that somebody else has.
  [[nodiscard]] std::optional<ticket> first_after(ticket mine) const noexcept;

  /// How often the ticket was called so far, for `wait_for_call`.
  [[nodiscard]] std::uint32_t wakes_of(ticket mine) const noexcept;
  void wake(ticket whose) noexcept;
  /// Until the ticket is called for the first time after `calls`; may return earlier.
  void wait_for_wake(ticket mine, std::uint32_t wakes, std::chrono::nanoseconds longest) noexcept;

 private:
  /// One that is nowhere, when there is no mapping to be had: the kernel says so.
  [[nodiscard]] void* address_of_wake_word(ticket whose) noexcept;

  int file_ = -1;
  void* page_ = nullptr;  // null: not mapped so far
};

}  // namespace rowlock::sqlite

#endif
