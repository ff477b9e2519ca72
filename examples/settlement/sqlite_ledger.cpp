// Runs the statements of the ledger through SQLiteCpp.
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>

#include "ledger.hpp"
#include "rowlock/sqlite.hpp"

namespace settlement {
namespace {

using namespace std::chrono_literals;

class sqlite_ledger final : public ledger {
 public:
  explicit sqlite_ledger(const std::string& path)
      : database_{path, SQLite::OPEN_READWRITE, static_cast<int>((10'000ms).count())} {
    database_.exec("PRAGMA synchronous = FULL");
  }

 private:
  std::vector<row> query(const char* sql, const row& values) override {
    SQLite::Statement statement{database_, sql};
    int number = 0;
    for (const auto& value : values) statement.bind(++number, value);

    std::vector<row> found;
    while (statement.executeStep()) {
      row& line = found.emplace_back();
      for (int column = 0; column < statement.getColumnCount(); ++column) {
        line.push_back(statement.getColumn(column).getString());
      }
    }
    return found;
  }

  void in_transaction(const transaction_body& body) override {
    SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
    body([this](const char* sql, const row& values) { return query(sql, values); });
    transaction.commit();
  }

  rowlock::outcome<void> in_locking_transaction(const rowlock::lock_keys& keys,
                                                const rowlock::lease& held,
                                                const transaction_body& body) override {
    return rowlock::with_row_lock<rowlock::sqlite_transaction>(
        database_, keys, 10s, [&](rowlock::sqlite_transaction&) {
          body([this](const char* sql, const row& values) { return query(sql, values); });
          rowlock::fence(database_, held);
        });
  }

  SQLite::Database database_;
};

}  // namespace

std::unique_ptr<ledger> open_sqlite_ledger(const std::string& path) {
  return std::make_unique<sqlite_ledger>(path);
}

}  // namespace settlement
