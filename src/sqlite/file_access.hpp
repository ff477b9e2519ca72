// The reads and writes of one store call on a SQLite file.
#ifndef ROWLOCK_SQLITE_FILE_ACCESS_HPP
#define ROWLOCK_SQLITE_FILE_ACCESS_HPP

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "sqlite/busy_wait.hpp"
#include "sqlite/row_statements.hpp"

namespace rowlock::sqlite {

/// For a call that did not get the file in time, and has no "busy" among its answers.
[[noreturn]] void throw_others_kept_the_file();

/// The connection, during one call. Work that found the file busy is repeated, so it must be
/// repeatable. Throws `failure`.
class file_access {
 public:
  using work = std::function<void(row_statements&)>;

  /// `turn_end` is kept from one call to the next; it begins as a time that has passed.
  file_access(sqlite3* database, row_statements& rows, busy_wait& wait,
              busy_wait::clock::time_point& turn_end) noexcept
      : database_{database}, rows_{rows}, wait_{wait}, turn_end_{turn_end} {}

  /// False if the read did not succeed before the wait was over.
  bool try_read(const work& reading);
  /// Returns the result of `reading`. Throws `error` (unavailable) if it did not succeed before the
  /// wait was over.
  template <class Reading>
  std::invoke_result_t<const Reading&, row_statements&> read(const Reading& reading) {
    std::optional<std::invoke_result_t<const Reading&, row_statements&>> found;
    if (!try_read([&](row_statements& rows) { found.emplace(reading(rows)); })) {
      throw_others_kept_the_file();
    }
    return *std::move(found);
  }
  /// Writes in a transaction if there is more than one statement. Commits everything or nothing:
  /// false when the wait was over. `writing` may be called again after an attempt that did nothing.
  bool try_write(std::size_t statements, const work& writing);
  /// The same; the commit does not wait for the disk. After an exception the connection is not to
  /// be used any more.
  bool try_write_unflushed(std::size_t statements, const work& writing);
  /// The same, always in a transaction. Commits it if `writing` returns true, otherwise rolls it
  /// back.
  bool try_write_if(const std::function<bool(row_statements&)>& writing);
  /// Whether another transaction is writing to the file. False if this connection may not write.
  bool has_writer();

 private:
  /// `write` returns whether it has written before the end of its wait. A connection that has
  /// waited in the queue of the file's writers has its turn for a moment: if it finds the file free
  /// until then, it does not queue again.
  template <class Write>
  bool write_in_turn(const Write& write);
  bool write_and_commit(busy_wait& wait, const std::function<bool(row_statements&)>& writing);

  sqlite3* database_;
  row_statements& rows_;
  busy_wait& wait_;
  busy_wait::clock::time_point& turn_end_;
};

}  // namespace rowlock::sqlite

#endif
