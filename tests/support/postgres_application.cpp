// An application that works on a PostgreSQL server.
#include <pqxx/pqxx>

#include "rowlock/postgres.hpp"
#include "support/application_on.hpp"
#include "support/database_application.hpp"
#include "support/postgres_schema.hpp"

namespace rowlock::tests {

namespace {

struct postgres_application {
  using transaction = pqxx::work;
  using connection = pqxx::connection;

  table_name table;

  [[nodiscard]] outcome<row_lock> lock_rows(pqxx::work& used, const lock_keys& keys,
                                            const retry_policy& wait) const {
    return rowlock::lock_rows(used, keys, wait, table);
  }

  void write_note(pqxx::work& used, const std::string& text) const {
    used.exec("insert into " + notes_beside(table.text()) + " (text) values (" + used.quote(text) +
              ")");
  }

  [[nodiscard]] std::vector<std::string> notes(pqxx::work& used) const {
    std::vector<std::string> texts;
    const auto found =
        used.exec("select text from " + notes_beside(table.text()) + " order by number");
    for (const auto& each : found) texts.push_back(each[0].as<std::string>());
    return texts;
  }

  static pqxx::work& entities(pqxx::work& used) { return used; }
  static outcome<void> lock_entity(pqxx::work& used, const entity_table& entity, const row_id& id,
                                   const retry_policy& wait) {
    return rowlock::lock_entity(used, entity, id, wait);
  }
  static void execute(pqxx::work& used, const std::string& sql) { used.exec(sql); }
  [[nodiscard]] std::string seats() const { return seats_beside(table.text()); }
};

}  // namespace

std::string notes_beside(const std::string& table) {
  return table.substr(0, table.find('.') + 1) + "note";
}

std::string seats_beside(const std::string& table) {
  return table.substr(0, table.find('.') + 1) + "seat";
}

void create_postgres_application(const std::string& table) {
  postgres_schema::execute("create table " + notes_beside(table) +
                           " (number bigserial primary key, text text not null)");
  postgres_schema::execute("create table " + seats_beside(table) +
                           " (id bigint primary key, code text unique, hall text, number bigint, "
                           "version bigint default 1, changed_at timestamptz default now(), "
                           "unique (hall, number))");
}

std::unique_ptr<app_connection> connect_to_postgres(const std::string& url,
                                                    const std::string& table) {
  return std::make_unique<app_connection_on<postgres_application>>(
      postgres_application{table_name{table}}, std::make_shared<pqxx::connection>(url));
}

}  // namespace rowlock::tests
