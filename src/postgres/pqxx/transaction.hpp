// The application's pqxx transaction, as a connection.
#ifndef ROWLOCK_POSTGRES_PQXX_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_PQXX_TRANSACTION_HPP

#include <exception>
#include <pqxx/pqxx>
#include <string>

#include "postgres/connection.hpp"

namespace rowlock::postgres {

/// Prepares nothing on the application's connection: a prepared statement that is missing would
/// cost the whole transaction.
class pqxx_transaction final : public transaction_connection {
 public:
  /// Throws `error` (misuse) for a `pqxx::nontransaction`, whose locks would end with each
  /// statement, and for a transaction that is over. No round trip.
  explicit pqxx_transaction(pqxx::transaction_base& transaction);

  result_set execute(const std::string& sql, const bound_values& values) override;
  using connection::execute;
  [[nodiscard]] std::string encoding() const override;
  result_set run(const std::string& script) override;
  [[nodiscard]] fault fault_in(const std::exception& thrown) const override;

 private:
  pqxx::transaction_base& transaction_;
};

}  // namespace rowlock::postgres

#endif
