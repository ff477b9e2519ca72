// The connection of a store, and who may use it.
#include "sqlite/store_connection.hpp"

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <utility>

#include "rowlock/error.hpp"
#include "rowlock/migration.hpp"
#include "sql/schema_check.hpp"
#include "sqlite/network_file_system.hpp"
#include "sqlite/sqlite_errors.hpp"
#include "sqlite/sqlite_file.hpp"
#include "sqlite/write_turn.hpp"
#include "sqlite/writing.hpp"

namespace rowlock::detail {

namespace {

/// The file was deleted or replaced: what is written to this one, others do not see.
bool has_moved(SQLite::Database& database) {
  int moved = 0;
  const int known =
      sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return known == SQLITE_OK && moved != 0;
}

}  // namespace

bool file_turn::read(const work& reading) {
  return succeeds_in_time(wait_, [&] { reading(rows_); });
}

bool file_turn::write(std::size_t statements, const work& writing) {
  const write_turn in_order{database_, wait_.end()};
  if (statements == 1) {
    try {
      return read(writing);
    } catch (const SQLite::Exception& thrown) {
      throw_if_in_doubt(thrown);
      throw;
    }
  }
  if (!begin_immediate(database_, wait_)) return false;
  try {
    writing(rows_);
    commit(database_, wait_);
    return true;
  } catch (const SQLite::Exception& thrown) {
    roll_back(database_);
    if (!is_busy(thrown)) throw;
    return false;
  }
}

store_connection::store_connection(std::string path, sqlite_options options)
    : options_{std::move(options)}, path_{std::move(path)}, where_{url_of(path_)} {}

store_connection::store_connection(sqlite_store::connect factory, sqlite_options options)
    : options_{std::move(options)}, factory_{std::move(factory)}, where_{"sqlite://"} {}

void store_connection::check_file_system(const std::string& file) const {
  if (!options_.allow_network_file_system) refuse_network_file_system(file);
}

bool store_connection::connect(patience& wait) {
  if (opened_ && has_moved(*opened_->database)) {
    opened_.reset();
    schema_is_known_ = false;
  }
  if (opened_) return true;
  return succeeds_in_time(wait, [&] {
    std::unique_ptr<SQLite::Database> database;
    if (factory_) {
      database = factory_();
      if (!database) throw error{errc::misuse, "the factory of connections returned none"};
      where_ = url_of(*database);
      check_file_system(file_of(*database));
      prepare_connection(*database);
    } else {
      check_file_system(path_);
      database = open_file(path_, wait);
    }
    row_statements rows{*database, options_.table};
    if (!schema_is_known_) {
      sql::check_schema(rows.last_migration(), sqlite_migrations(options_.table), options_.table,
                        where_);
      schema_is_known_ = true;
    }
    opened_.emplace(opened{std::move(database), std::move(rows)});
  });
}

bool store_connection::take_turn(const std::function<void(file_turn&)>& work) {
  patience wait{options_.turn_timeout};
  if (!turns_.take(wait.end())) return false;
  const struct give_back {
    turns& taken;
    ~give_back() { taken.give_back(); }
  } at_the_end{turns_};

  try {
    if (!connect(wait)) return false;
    file_turn file{*opened_->database, opened_->rows, wait};
    work(file);
    return true;
  } catch (const SQLite::Exception& thrown) {
    opened_.reset();
    throw_error(thrown, where_, sql::how_to_migrate(where_, options_.table));
  } catch (...) {
    opened_.reset();
    throw;
  }
}

void store_connection::read(const file_turn::work& reading) {
  bool was_read = false;
  take_turn([&](file_turn& file) { was_read = file.read(reading); });
  if (was_read) return;
  throw error{errc::unavailable,
              "others kept the SQLite file for longer than turn_timeout: try again, and keep "
              "transactions short"};
}

}  // namespace rowlock::detail
