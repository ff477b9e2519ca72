// An application that works through SOCI.
#include "support/soci_application.hpp"

#include <soci/soci.h>

#include <utility>

#include "rowlock/soci.hpp"
#include "support/application_on.hpp"
#include "support/database_application.hpp"

namespace rowlock::tests {

namespace {

struct soci_application {
  using transaction = soci_transaction;
  using connection = ::soci::session;

  soci_table table;
  std::string notes_table;
  std::string seats_table;

  [[nodiscard]] outcome<row_lock> lock_rows(soci_transaction& used, const lock_keys& keys,
                                            const retry_policy& wait) const {
    return rowlock::lock_rows(used, keys, wait, table);
  }

  void write_note(soci_transaction& used, const std::string& text) const {
    used.session() << "insert into " << notes_table << " (text) values (:text)", ::soci::use(text);
  }

  [[nodiscard]] std::vector<std::string> notes(soci_transaction& used) const {
    std::vector<std::string> texts;
    without_limits(used, [&](::soci::session& session) {
      const ::soci::rowset<std::string> found =
          (session.prepare << "select text from " << notes_table << " order by number");
      texts.assign(found.begin(), found.end());
    });
    return texts;
  }

  static ::soci::session& entities(soci_transaction& used) { return used.session(); }
  [[nodiscard]] outcome<void> lock_entity(soci_transaction& used, const entity_table& entity,
                                          const row_id& id, const retry_policy& wait) const {
    return rowlock::lock_entity(used.session(), entity, id, wait, table);
  }
  static void execute(soci_transaction& used, const std::string& sql) {
    without_limits(used, [&](::soci::session& session) { session << sql; });
  }
  [[nodiscard]] std::string seats() const { return seats_table; }

 private:
  /// A statement of a test may change or read all rows, which a MariaDB may have been told to
  /// refuse.
  static void without_limits(soci_transaction& used, const auto& work) {
    auto& session = used.session();
    const bool is_mysql = session.get_backend_name() == "mysql";
    if (is_mysql) {
      session << "set sql_safe_updates = 0, sql_big_selects = 1, sql_select_limit = 1000000";
    }
    work(session);
    if (is_mysql) {
      session << "set sql_safe_updates = default, sql_big_selects = default, "
                 "sql_select_limit = default";
    }
  }
};

/// All users of one target use the same node, if it is one of a cluster.
constexpr bool is_to_one_node = true;

}  // namespace

std::unique_ptr<app_connection> connect_through_soci(const std::string& target,
                                                     const std::string& table) {
  auto session = std::make_shared<::soci::session>(target);
  const bool is_mysql = session->get_backend_name() == "mysql";
  return std::make_unique<app_connection_on<soci_application>>(
      soci_application{soci_table{table_name{table}, is_to_one_node},
                       is_mysql ? table + "_note" : notes_beside(table),
                       is_mysql ? table + "_seat" : seats_beside(table)},
      std::move(session));
}

}  // namespace rowlock::tests
