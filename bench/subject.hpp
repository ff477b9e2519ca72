// A database with a lock table, to be measured.
#ifndef ROWLOCK_BENCH_SUBJECT_HPP
#define ROWLOCK_BENCH_SUBJECT_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "rowlock/lock_key.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::bench {

/// Locks the row of a key in a transaction of its own that does nothing else; false when refused.
using row_locker = std::function<bool(const lock_key& key)>;

/// Created empty, removed with the object.
///
/// Thread-safety: all members may be called from any thread.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  virtual store& locks() = 0;
  /// With a connection of its own, for one thread.
  virtual row_locker connect() = 0;
  /// How many statements its server has executed, this call included; none where they are not
  /// counted. From one thread.
  virtual std::optional<std::int64_t> statements() { return {}; }
};

std::unique_ptr<subject> make_memory_subject();
/// A file in a temporary folder (TMPDIR decides on which disk).
std::unique_ptr<subject> make_sqlite_subject();
/// A database on the server that the environment variable ROWLOCK_TEST_MARIADB names; throws
/// std::runtime_error if it names none.
std::unique_ptr<subject> make_mariadb_subject();
/// A schema on the server that the environment variable ROWLOCK_TEST_POSTGRES names; throws
/// std::runtime_error if it names none.
std::unique_ptr<subject> make_postgres_subject();

}  // namespace rowlock::bench

#endif
