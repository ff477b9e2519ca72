// The connection of a store, and who may use it.
#include "sqlite/sqlitecpp/store_connection.hpp"

#include <SQLiteCpp/Database.h>

#include <utility>

#include "base/limits.hpp"
#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/sqlitecpp/errors.hpp"
#include "sqlite/table_check.hpp"
#include "store/schema_check.hpp"

namespace rowlock::detail {

using on_sqlite::busy_wait;
using on_sqlite::failure;
using on_sqlite::file_access;

store_connection::store_connection(std::string path, sqlite_options options)
    : options_{std::move(options)}, path_{std::move(path)}, where_{on_sqlite::url_of(path_)} {
  check_time_to_wait("turn_timeout", options_.turn_timeout);
}

store_connection::store_connection(sqlite_store::connect factory, sqlite_options options)
    : options_{std::move(options)}, factory_{std::move(factory)}, where_{"sqlite://"} {
  check_time_to_wait("turn_timeout", options_.turn_timeout);
}

void store_connection::check_file_system(const std::string& file) const {
  if (!options_.allow_network_file_system) on_sqlite::refuse_network_file_system(file);
}

bool store_connection::connect(busy_wait& wait) {
  if (opened_ && on_sqlite::has_moved(opened_->database->getHandle())) {
    opened_.reset();
    schema_is_known_ = false;
  }
  if (opened_) return true;
  return on_sqlite::succeeds_in_time(wait, [&] {
    std::unique_ptr<SQLite::Database> database;
    if (factory_) {
      database = opened_by_driver(factory_);
      if (!database) throw error{errc::misuse, "the factory of connections returned none"};
      where_ = url_of(*database);
      check_file_system(on_sqlite::file_of(database->getHandle()));
      on_sqlite::prepare_connection(database->getHandle());
    } else {
      check_file_system(path_);
      database = open_file(path_);
      on_sqlite::prepare_connection(database->getHandle());
      on_sqlite::switch_to_wal(database->getHandle(), wait);
    }
    on_sqlite::row_statements rows{database->getHandle(), options_.table};
    if (!schema_is_known_) {
      on_sqlite::check_table(database->getHandle(), rows, options_.table, where_);
      schema_is_known_ = true;
    }
    opened_.emplace(opened{std::move(database), std::move(rows)});
  });
}

bool store_connection::with_connection(const std::function<void(file_access&)>& work,
                                       access wanted) {
  busy_wait wait{options_.turn_timeout};
  if (!mutex_.try_lock_until(wait.end())) return false;
  const struct unlocking {
    timed_mutex& locked;
    ~unlocking() { locked.unlock(); }
  } at_the_end{mutex_};

  try {
    if (!connect(wait)) return false;
    auto* const database = opened_->database->getHandle();
    if (wanted == access::write) on_sqlite::require_writable(database);
    file_access file{database, opened_->rows, wait};
    work(file);
    // It may not see what others write from now on.
    if (!factory_ && on_sqlite::is_read_only(database)) opened_.reset();
    return true;
  } catch (const failure& failed) {
    opened_.reset();
    throw_as_error(failed, where_, sql::how_to_migrate(where_, options_.table));
  } catch (...) {
    opened_.reset();
    throw;
  }
}

}  // namespace rowlock::detail
