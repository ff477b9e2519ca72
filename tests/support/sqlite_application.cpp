// An application that works on a SQLite file.
#include <SQLiteCpp/SQLiteCpp.h>

#include "rowlock/sqlite.hpp"
#include "support/application_on.hpp"
#include "support/database_application.hpp"

namespace rowlock::tests {

namespace {

struct sqlite_application {
  using transaction = sqlite_transaction;
  using connection = SQLite::Database;

  table_name table;

  [[nodiscard]] outcome<row_lock> lock_rows(sqlite_transaction& used, const lock_keys& keys,
                                            const retry_policy& wait) const {
    return rowlock::lock_rows(used.database(), keys, wait, table);
  }

  static void write_note(sqlite_transaction& used, const std::string& text) {
    SQLite::Statement insert{used.database(), "insert into note (text) values (?)"};
    insert.bind(1, text);
    insert.exec();
  }

  static std::vector<std::string> notes(sqlite_transaction& used) {
    std::vector<std::string> texts;
    SQLite::Statement select{used.database(), "select text from note order by number"};
    while (select.executeStep()) texts.push_back(select.getColumn(0).getString());
    return texts;
  }

  static SQLite::Database& entities(sqlite_transaction& used) { return used.database(); }
  static outcome<void> lock_entity(sqlite_transaction& used, const entity_table& entity,
                                   const row_id& id, const retry_policy& wait) {
    return rowlock::lock_entity(used.database(), entity, id, wait);
  }
  static void execute(sqlite_transaction& used, const std::string& sql) {
    used.database().exec(sql);
  }
  static std::string seats() { return "seat"; }
};

}  // namespace

void create_sqlite_application(const std::string& path) {
  SQLite::Database{path, SQLite::OPEN_READWRITE}.exec(
      "create table note (number integer primary key, text text not null);"
      "create table seat (id integer primary key, code text unique, hall text, number integer, "
      "version integer default 1, "
      "changed_at text default (strftime('%Y-%m-%d %H:%M:%f000', 'now')), unique (hall, number))");
}

std::unique_ptr<app_connection> connect_to_sqlite(const std::string& path,
                                                  const std::string& table) {
  return std::make_unique<app_connection_on<sqlite_application>>(
      sqlite_application{table_name{table}},
      std::make_shared<SQLite::Database>(path, SQLite::OPEN_READWRITE));
}

}  // namespace rowlock::tests
