// The database of one run: new at its beginning, gone at its end.
#ifndef ROWLOCK_EXAMPLE_SCRATCH_DATABASE_HPP
#define ROWLOCK_EXAMPLE_SCRATCH_DATABASE_HPP

#include <filesystem>
#include <memory>
#include <string>

#include "cli/database_url.hpp"
#include "ledger.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/table_name.hpp"

namespace settlement {

/// A SQLite file that did not exist, or a schema of its own in a PostgreSQL database, with the lock
/// table in it.
class scratch_database {
 public:
  /// An empty `url` means a SQLite file in a new temporary folder. Throws `rowlock::error`, or what
  /// the driver throws; std::runtime_error for a file that exists.
  scratch_database(const std::string& url, bool keep);
  scratch_database(const scratch_database&) = delete;
  scratch_database& operator=(const scratch_database&) = delete;
  /// Says where everything is if it is to be kept. All other connections must be closed.
  ~scratch_database();

  [[nodiscard]] std::unique_ptr<ledger> open_ledger() const;
  [[nodiscard]] std::unique_ptr<rowlock::store> open_store() const;

  /// For people, without connection strings.
  [[nodiscard]] std::string description() const;

 private:
  [[nodiscard]] bool is_sqlite() const {
    return url_.which() == rowlock::database_url::engine::sqlite;
  }
  void remove() const;

  std::filesystem::path own_folder_;  // empty if the URL was given
  rowlock::database_url url_;
  std::string schema_;
  rowlock::table_name locks_;
  bool keep_;
};

}  // namespace settlement

#endif
