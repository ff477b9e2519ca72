// An application whose database is in memory.
#include "support/memory_application.hpp"

#include "support/application_on.hpp"

namespace rowlock::tests {

void memory_database_transaction::commit() {
  const std::scoped_lock lock{database_.mutex};
  rows_->commit();
  database_.notes.insert(database_.notes.end(), written_.begin(), written_.end());
}

std::vector<std::string> memory_database_transaction::notes() const {
  const std::scoped_lock lock{database_.mutex};
  auto texts = database_.notes;
  texts.insert(texts.end(), written_.begin(), written_.end());
  return texts;
}

namespace {

struct memory_application {
  using transaction = memory_database_transaction;
  using connection = memory_database;

  row_transaction<transaction>::table_type table;

  static outcome<row_lock> lock_rows(transaction& used, const lock_keys& keys,
                                     const retry_policy& wait) {
    return rowlock::lock_rows(*used.rows(), keys, wait);
  }
  static void write_note(transaction& used, const std::string& text) { used.write_note(text); }
  static std::vector<std::string> notes(const transaction& used) { return used.notes(); }
};

}  // namespace

std::unique_ptr<app_connection> connect_to_memory(std::shared_ptr<memory_database> database) {
  return std::make_unique<app_connection_on<memory_application>>(memory_application{},
                                                                 std::move(database));
}

}  // namespace rowlock::tests
