// The application that the locks protect, on a database that SOCI connects to.
#include <soci/soci.h>

#include <stdexcept>

#include "faults/books_on.hpp"
#include "rowlock/soci.hpp"

namespace rowlock::tests {

namespace {

std::int64_t number_in(const soci::row& found, std::size_t column) {
  switch (found.get_properties(column).get_data_type()) {
    case soci::dt_integer:
      return found.get<int>(column);
    case soci::dt_long_long:
      return found.get<long long>(column);
    default:
      throw std::logic_error{"not a number: " + found.get_properties(column).get_name()};
  }
}

class soci_line : public sql_line {
 public:
  explicit soci_line(soci::session& used) : used_{used} {}
  void execute(const std::string& sql) override { used_ << sql; }
  // Not by way of `rows`: of a column that SQLite calls integer SOCI shows 32 bits there.
  std::int64_t number(const std::string& sql) override {
    long long found = 0;
    used_ << sql, soci::into(found);
    if (!used_.got_data()) throw std::runtime_error{"there is no such row"};
    return found;
  }
  std::vector<row> rows(const std::string& sql) override {
    std::vector<row> all;
    const soci::rowset<soci::row> answered = (used_.prepare << sql);
    for (const auto& found : answered) {
      auto& copied = all.emplace_back();
      for (std::size_t column = 0; column < found.size(); ++column) {
        copied.push_back(found.get_indicator(column) == soci::i_null
                             ? std::nullopt
                             : std::optional{number_in(found, column)});
      }
    }
    return all;
  }

 private:
  soci::session& used_;
};

struct soci_database {
  using transaction = soci_transaction;
  using connection = soci::session;
  using line_outside = soci_line;

  struct line_in final : soci_line {
    explicit line_in(soci_transaction& used) : soci_line{used.session()} {}
  };
};

struct postgres_by_soci : soci_database {
  static constexpr bool has_transactions_side_by_side = true;
  static constexpr auto numbered_column = "bigserial primary key";
};

struct sqlite_by_soci : soci_database {
  static constexpr bool has_transactions_side_by_side = false;
  static constexpr auto numbered_column = "integer primary key autoincrement";
};

struct mariadb_by_soci : soci_database {
  static constexpr bool has_transactions_side_by_side = true;
  static constexpr auto numbered_column = "bigint auto_increment primary key";

  static bool has_several_writers(soci::session& used) {
    return soci_line{used}.number("select @@wsrep_on") != 0;
  }
  static void catch_up(line_outside& line) {
    line.execute("set session wsrep_sync_wait = 1");
    line.number("select 1");  // which waits: others at this node see it too from here on
  }
};

}  // namespace

std::unique_ptr<books> open_soci_books(const std::string& connection_string) {
  auto opened = std::make_unique<soci::session>(connection_string);
  const auto backend = opened->get_backend_name();
  if (backend == "mysql") return std::make_unique<books_on<mariadb_by_soci>>(std::move(opened));
  if (backend == "sqlite3") return std::make_unique<books_on<sqlite_by_soci>>(std::move(opened));
  return std::make_unique<books_on<postgres_by_soci>>(std::move(opened));
}

}  // namespace rowlock::tests
