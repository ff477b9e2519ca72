// The application that the locks protect, on PostgreSQL.
#include <pqxx/pqxx>

#include "faults/books_on.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {

namespace {

std::vector<sql_line::row> rows_of(const pqxx::result& answered) {
  std::vector<sql_line::row> all;
  for (const auto& row : answered) {
    auto& copied = all.emplace_back();
    for (const auto& field : row) {
      copied.push_back(field.is_null() ? std::nullopt : std::optional{field.as<std::int64_t>()});
    }
  }
  return all;
}

struct postgres_database {
  using transaction = pqxx::work;
  using connection = pqxx::connection;
  static constexpr bool has_transactions_side_by_side = true;
  static constexpr auto numbered_column = "bigserial primary key";

  class line_in final : public sql_line {
   public:
    explicit line_in(pqxx::work& used) : used_{used} {}
    void execute(const std::string& sql) override { used_.exec(sql); }
    std::int64_t number(const std::string& sql) override {
      return used_.exec(sql)[0][0].as<std::int64_t>();
    }
    std::vector<row> rows(const std::string& sql) override { return rows_of(used_.exec(sql)); }

   private:
    pqxx::work& used_;
  };

  class line_outside final : public sql_line {
   public:
    explicit line_outside(pqxx::connection& used) : used_{used} {}
    void execute(const std::string& sql) override { pqxx::nontransaction{used_}.exec(sql); }
    std::int64_t number(const std::string& sql) override {
      return pqxx::nontransaction{used_}.exec(sql)[0][0].as<std::int64_t>();
    }
    std::vector<row> rows(const std::string& sql) override {
      return rows_of(pqxx::nontransaction{used_}.exec(sql));
    }

   private:
    pqxx::connection& used_;
  };
};

}  // namespace

std::unique_ptr<books> open_postgres_books(const std::string& url) {
  return std::make_unique<books_on<postgres_database>>(std::make_unique<pqxx::connection>(url));
}

}  // namespace rowlock::tests
