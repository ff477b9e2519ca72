// The execution of statements with bound values; the only file that depends on libpqxx's version.
#ifndef ROWLOCK_POSTGRES_PQXX_EXECUTE_HPP
#define ROWLOCK_POSTGRES_PQXX_EXECUTE_HPP

#include <pqxx/pqxx>
#include <string>

#include "postgres/values.hpp"

namespace rowlock::postgres {

/// Executes a statement without a name: the server parses it anew each time.
result_set execute(pqxx::transaction_base& transaction, const std::string& sql,
                   const bound_values& values);

/// Executes a statement that was prepared on the transaction's connection.
result_set execute_prepared(pqxx::transaction_base& transaction, const std::string& name,
                            const bound_values& values);

}  // namespace rowlock::postgres

#endif
