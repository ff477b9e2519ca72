// The application's pqxx transaction, as a line.
#ifndef ROWLOCK_POSTGRES_PQXX_TRANSACTION_HPP
#define ROWLOCK_POSTGRES_PQXX_TRANSACTION_HPP

#include <exception>
#include <pqxx/pqxx>
#include <string>

#include "postgres/connection.hpp"

namespace rowlock::postgres {

/// Nothing is prepared on the application's connection: where a name turned out to be astray, the
/// transaction would be lost.
class pqxx_transaction final : public transaction_connection {
 public:
  /// Throws `error` (misuse) for a `pqxx::nontransaction` and for a transaction that is over: locks
  /// would end with each statement. No round trip.
  explicit pqxx_transaction(pqxx::transaction_base& transaction);

  result_set execute(const std::string& sql, const bound_values& values) override;
  using connection::execute;
  [[nodiscard]] std::string encoding() const override;
  void run(const std::string& script) override;
  [[nodiscard]] fault fault_in(const std::exception& thrown) const override;

 private:
  pqxx::transaction_base& transaction_;
};

}  // namespace rowlock::postgres

#endif
