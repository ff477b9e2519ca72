// Runs the statements of the ledger through libpqxx.
#include <chrono>
#include <pqxx/pqxx>

#include "ledger.hpp"
#include "rowlock/postgres.hpp"

namespace settlement {
namespace {

using namespace std::chrono_literals;

class postgres_ledger final : public ledger {
 public:
  postgres_ledger(const std::string& connection_string, const std::string& schema)
      : connection_{connection_string}, locks_{schema + ".shared_lock"} {
    pqxx::nontransaction work{connection_};
    work.exec("SET search_path TO " + work.quote_name(schema));
  }

 private:
  // libpqxx 7.10 has a new name for it and warns of the old one.
  static std::vector<row> run(pqxx::transaction_base& work, const char* sql, const row& values) {
#if PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10)
    pqxx::params bound;
    for (const auto& value : values) bound.append(value);
    const auto result = work.exec(sql, bound);
#else
    const auto result = work.exec_params(sql, pqxx::prepare::make_dynamic_params(values));
#endif
    std::vector<row> found;
    for (const auto& line : result) {
      row& copy = found.emplace_back();
      for (const auto& field : line) copy.emplace_back(field.c_str());
    }
    return found;
  }

  static statements statements_of(pqxx::transaction_base& work) {
    return [&work](const char* sql, const row& values) { return run(work, sql, values); };
  }

  std::vector<row> query(const char* sql, const row& values) override {
    pqxx::nontransaction work{connection_};
    return run(work, sql, values);
  }

  void in_transaction(const transaction_body& body) override {
    pqxx::work work{connection_};
    body(statements_of(work));
    work.commit();
  }

  rowlock::outcome<void> in_locking_transaction(const rowlock::lock_keys& keys,
                                                const rowlock::lease& held,
                                                const transaction_body& body) override {
    return rowlock::with_row_lock<pqxx::work>(
        connection_, keys, 10s,
        [&](pqxx::work& work) {
          body(statements_of(work));
          rowlock::fence(work, held, {}, locks_);
        },
        locks_);
  }

  pqxx::connection connection_;
  rowlock::table_name locks_;
};

}  // namespace

std::unique_ptr<ledger> open_postgres_ledger(const std::string& connection_string,
                                             const std::string& schema) {
  return std::make_unique<postgres_ledger>(connection_string, schema);
}

}  // namespace settlement
