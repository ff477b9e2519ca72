// The application that the locks protect, on SQLite.
#include <SQLiteCpp/SQLiteCpp.h>

#include "faults/books_on.hpp"
#include "rowlock/sqlite.hpp"

namespace rowlock::tests {

namespace {

class sqlite_line : public sql_line {
 public:
  explicit sqlite_line(SQLite::Database& used) : used_{used} {}
  void execute(const std::string& sql) override { used_.exec(sql); }
  std::int64_t number(const std::string& sql) override { return rows(sql).at(0).at(0).value(); }
  std::vector<row> rows(const std::string& sql) override {
    std::vector<row> all;
    SQLite::Statement query{used_, sql};
    while (query.executeStep()) {
      auto& copied = all.emplace_back();
      for (int column = 0; column < query.getColumnCount(); ++column) {
        const auto value = query.getColumn(column);
        copied.push_back(value.isNull() ? std::nullopt : std::optional{value.getInt64()});
      }
    }
    return all;
  }

 private:
  SQLite::Database& used_;
};

struct sqlite_database {
  using transaction = sqlite_transaction;
  using connection = SQLite::Database;
  using line_outside = sqlite_line;
  static constexpr bool has_transactions_side_by_side = false;
  static constexpr auto numbered_column = "integer primary key autoincrement";

  struct line_in final : sqlite_line {
    explicit line_in(sqlite_transaction& used) : sqlite_line{used.database()} {}
  };
};

}  // namespace

std::unique_ptr<books> open_sqlite_books(const std::string& path) {
  return std::make_unique<books_on<sqlite_database>>(
      std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE));
}

}  // namespace rowlock::tests
