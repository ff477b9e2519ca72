// This library on SQLite, and its limit: its own statements through SQLite's C API.
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "race/protocol.hpp"
#include "race/rowlock_contender.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/sqlite_store.hpp"
#include "rowlock/table_name.hpp"
#include "sqlite/sql/leases.hpp"
#include "sqlite/sql/spelling.hpp"
#include "sqlite/sql/transactions.hpp"

namespace rowlock::race {

namespace {

std::string file_in(const place& where) { return where.schema + "/race.db"; }

void build(const place& where) { migrate_sqlite(file_in(where)); }
void build_with_history(const place& where) {
  migrate_sqlite(file_in(where), {}, history_option::with);
}

contender_factory open_rowlock(const place& where) {
  return through_lock_table(
      std::make_unique<sqlite_store>(file_in(where),
                                     sqlite_options{.turn_timeout = std::chrono::minutes{1}}),
      {.ttl = ttl});
}

[[noreturn]] void fail(sqlite3* database) { throw std::runtime_error{sqlite3_errmsg(database)}; }

struct close_database {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using database = std::unique_ptr<sqlite3, close_database>;
using prepared = std::unique_ptr<sqlite3_stmt, finalize>;

/// One connection with its two statements, prepared once; WAL, and commits that are flushed as
/// those of the library are.
///
/// Thread-safety: all members may be called from any thread; a mutex serialises them, since SQLite
/// has one writer anyway.
class bare_file {
 public:
  explicit bare_file(const place& where) {
    sqlite3* opened = nullptr;
    const int result =
        sqlite3_open_v2(file_in(where).c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    database_.reset(opened);
    if (result != SQLITE_OK) fail(opened);
    sqlite3_busy_timeout(opened, 60'000);
    execute("PRAGMA journal_mode = WAL");
    execute("PRAGMA synchronous = FULL");
    acquire_ = prepare(sqlite::sql::acquire);
    release_ = prepare(sqlite::sql::release);
  }

  std::int64_t acquire(const lock_key& key, const std::string& owner) {
    const std::lock_guard lock{mutex_};
    auto* const statement = acquire_.get();
    bind_text(statement, 1, key.type);
    bind_text(statement, 2, key.source_id);
    bind_text(statement, 3, owner);
    bind_text(statement, 4, "bench");
    bind_text(statement, 5, "+60.000 seconds");
    sqlite3_bind_int64(statement, 6, 0);
    std::int64_t version = 0;
    while (step(statement)) version = sqlite3_column_int64(statement, 0);
    return version;
  }

  bool release(const lock_key& key, const std::string& owner, std::int64_t version) {
    const std::lock_guard lock{mutex_};
    auto* const statement = release_.get();
    bind_text(statement, 1, key.type);
    bind_text(statement, 2, key.source_id);
    bind_text(statement, 3, owner);
    sqlite3_bind_int64(statement, 4, version);
    sqlite3_bind_int64(statement, 5, 0);
    execute(sqlite::sql::flush_no_commit.data());
    while (step(statement)) {
    }
    const bool is_released = sqlite3_changes(database_.get()) == 1;
    execute(sqlite::sql::flush_commits.data());
    return is_released;
  }

 private:
  void execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      fail(database_.get());
    }
  }
  prepared prepare(std::string_view sql) {
    const auto text = sqlite::sql::rendered({}, sql);
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(database_.get(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made,
                           nullptr) != SQLITE_OK) {
      fail(database_.get());
    }
    return prepared{made};
  }
  /// True for a row; after the last one the statement is ready for the next time.
  bool step(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) return true;
    if (sqlite3_reset(statement) != SQLITE_OK) fail(database_.get());
    return false;
  }
  /// `text` must live until the statement was executed.
  static void bind_text(sqlite3_stmt* statement, int place, std::string_view text) {
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), nullptr);
  }

  std::mutex mutex_;
  database database_;
  prepared acquire_;
  prepared release_;
};

/// Does not wait.
class bare_contender final : public polling_contender {
 public:
  explicit bare_contender(bare_file& rows) : rows_{rows} {}

  bool take(const lock_key& key) override {
    key_ = &key;
    owner_ = make_owner_id().text;
    version_ = rows_.acquire(key, owner_);
    return version_ != 0;
  }
  void give_back() override {
    if (!rows_.release(*key_, owner_, version_)) throw std::runtime_error{"not released"};
  }

 private:
  bare_file& rows_;
  const lock_key* key_ = nullptr;
  std::string owner_;
  std::int64_t version_ = 0;
};

}  // namespace

std::vector<protocol> sqlite_protocols() {
  return {
      {.name = "rowlock_sqlite", .runs_on = engine::sqlite, .build = build, .open = open_rowlock},
      {.name = "rowlock_sqlite_history",
       .runs_on = engine::sqlite,
       .build = build_with_history,
       .open = open_rowlock},
      {.name = "bare_sqlite",
       .runs_on = engine::sqlite,
       .build = build,
       .open = contenders_sharing<bare_contender, bare_file>},
  };
}

}  // namespace rowlock::race
