// The SQLite store through SQLiteCpp, and its migrations.
#include "rowlock/sqlite_store.hpp"

#include <SQLiteCpp/Database.h>
#include <sqlite3.h>

#include <memory>
#include <utility>

#include "base/limits.hpp"
#include "base/timed_mutex.hpp"
#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/file_watch.hpp"
#include "sqlite/schema.hpp"
#include "sqlite/session.hpp"
#include "sqlite/sqlitecpp/errors.hpp"

namespace rowlock {

namespace {

using sqlite::busy_wait;
using sqlite::failure;

class database_of_store final : public sqlite::session_file {
 public:
  database_of_store(const std::string& path, const sqlite_store::connect& factory,
                    bool allow_network_file_system)
      : path_{path}, factory_{factory}, allow_network_file_system_{allow_network_file_system} {}

  sqlite3* open(busy_wait& wait) override {
    database_.reset();
    if (factory_) {
      database_ = detail::opened_by_driver(factory_);
      if (!database_) throw error{errc::misuse, "the factory of connections returned none"};
      check_file_system(sqlite::file_of(handle()));
      sqlite::prepare_connection(handle());
    } else {
      check_file_system(path_);
      database_ = detail::open_file(path_);
      sqlite::prepare_connection(handle());
      sqlite::switch_to_wal(handle(), wait);
    }
    return handle();
  }
  [[nodiscard]] std::string where() const override {
    if (!factory_) return sqlite::url_of(path_);
    return database_ ? sqlite::url_of(handle()) : "sqlite://";
  }
  /// A file that this store has opened for reading only shows what was written before it was
  /// opened, so it lasts for one call.
  [[nodiscard]] bool is_alive() const noexcept override {
    if (!database_) return true;
    return !sqlite::has_moved(handle()) && (factory_ || !sqlite::is_read_only(handle()));
  }
  [[noreturn]] void throw_meaning_of(const failure& failed,
                                     const std::string& if_missing) const override {
    detail::throw_as_error(failed, where(), if_missing);
  }

 private:
  [[nodiscard]] sqlite3* handle() const noexcept { return database_->getHandle(); }
  void check_file_system(const std::string& file) const {
    if (!allow_network_file_system_) sqlite::refuse_network_file_system(file);
  }

  const std::string& path_;
  const sqlite_store::connect& factory_;
  const bool allow_network_file_system_;
  std::unique_ptr<SQLite::Database> database_;
};

/// The file of a call that did not get the connection of its store in time.
class file_in_use final : public sqlite::session_file {
 public:
  sqlite3* open(busy_wait& /*wait*/) override {
    throw failure{SQLITE_BUSY, "the connection is in use"};
  }
  [[nodiscard]] std::string where() const override { return "sqlite://"; }
  [[nodiscard]] bool is_alive() const noexcept override { return true; }
  [[noreturn]] void throw_meaning_of(const failure& failed,
                                     const std::string& if_missing) const override {
    sqlite::throw_error(failed, where(), if_missing);
  }
};

}  // namespace

class sqlite_store::impl {
 public:
  impl(std::string path, connect factory, sqlite_options options)
      : options_{std::move(options)}, path_{std::move(path)}, factory_{std::move(factory)} {
    detail::check_time_to_wait("turn_timeout", options_.turn_timeout);
  }

  [[nodiscard]] const table_name& table() const noexcept { return options_.table; }

  void run(work_on_store work) {
    const auto end = busy_wait::clock::now() + options_.turn_timeout;
    if (!mutex_.try_lock_until(end)) {
      const auto none = sqlite::make_session(std::make_unique<file_in_use>(), options_.table,
                                             options_.turn_timeout);
      none->end_next_call_at(end);
      work(*none);
      return;
    }
    const detail::timed_lock ticket{mutex_};
    if (session_ == nullptr || !session_->is_alive()) session_ = opened();
    session_->end_next_call_at(end);
    try {
      work(*session_);
    } catch (...) {
      session_.reset();
      throw;
    }
  }

  std::unique_ptr<subscription> listen(release_listener& listener) {
    return sqlite::watch_file(factory_ ? file_of_session() : path_, listener);
  }

 private:
  /// Empty if no call has opened the file, or another one has the connection.
  std::string file_of_session() {
    if (!mutex_.try_lock_until(busy_wait::clock::now() + options_.turn_timeout)) return {};
    const detail::timed_lock ticket{mutex_};
    return session_ == nullptr ? std::string{} : session_->file();
  }

  std::unique_ptr<sqlite::session> opened() {
    return sqlite::make_session(
        std::make_unique<database_of_store>(path_, factory_, options_.allow_network_file_system),
        options_.table, options_.turn_timeout);
  }

  const sqlite_options options_;
  const std::string path_;
  const connect factory_;
  detail::timed_mutex mutex_;
  std::unique_ptr<sqlite::session> session_ ROWLOCK_GUARDED_BY(mutex_);
};

sqlite_store::sqlite_store(std::string path, sqlite_options options)
    : impl_{detail::make_owned_at_home<impl>(std::move(path), nullptr, std::move(options))} {
  sqlite::check_schema_name(impl_->table());
}

sqlite_store::sqlite_store(connect factory, sqlite_options options)
    : impl_{detail::make_owned_at_home<impl>(std::string{}, std::move(factory),
                                             std::move(options))} {}

sqlite_store::~sqlite_store() = default;

void sqlite_store::pass(store_call /*made*/, work_on_store work) { impl_->run(work); }

std::unique_ptr<subscription> sqlite_store::do_listen(release_listener& listener) {
  return impl_->listen(listener);
}

std::vector<migration> migrate_sqlite(const std::string& path, const table_name& table,
                                      history_option history) {
  sqlite::check_schema_name(table);
  sqlite::create_file(path);
  try {
    const auto database = detail::open_file(path);
    return sqlite::migrate(database->getHandle(), table, history);
  } catch (const sqlite::failure& failed) {
    detail::throw_as_error(failed, sqlite::url_of(path), sqlite::look_at_the_tables);
  }
}

}  // namespace rowlock
