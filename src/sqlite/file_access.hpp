// What one call of a store does with its connection, once it has it.
#ifndef ROWLOCK_SQLITE_FILE_ACCESS_HPP
#define ROWLOCK_SQLITE_FILE_ACCESS_HPP

#include <cstddef>
#include <functional>

#include "sqlite/busy_wait.hpp"
#include "sqlite/row_statements.hpp"

namespace rowlock::sqlite {

/// One call's turn at the connection. What is done in it may be done again when it met somebody
/// else who uses the file, and so must bear repeating. Throws `failure`.
class file_access {
 public:
  using work = std::function<void(row_statements&)>;

  file_access(sqlite3* database, row_statements& rows, busy_wait& wait) noexcept
      : database_{database}, rows_{rows}, wait_{wait} {}

  /// False when it could not be done before the patience was over.
  bool try_read(const work& reading);
  /// Throws `error` (unavailable) when it could not be done before the patience was over.
  void read(const work& reading);
  /// As the first in the queue of the file's writers, and in a transaction if there is more than
  /// one statement. All of it is committed, or nothing: false when the patience was over.
  bool try_write(std::size_t statements, const work& writing);
  /// The same in a transaction, which is committed if `writing` says so, and rolled back otherwise.
  bool try_write_if(const std::function<bool(row_statements&)>& writing);
  /// Whether some transaction is writing to the file. False where this connection may not write.
  bool has_writer();

 private:
  sqlite3* database_;
  row_statements& rows_;
  busy_wait& wait_;
};

/// When a turn did not come, and the answer cannot be "busy".
[[noreturn]] void throw_others_kept_the_file();

}  // namespace rowlock::sqlite

#endif
