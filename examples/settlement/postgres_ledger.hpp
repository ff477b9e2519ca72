// The ledger in a schema of a PostgreSQL database.
#ifndef ROWLOCK_EXAMPLE_POSTGRES_LEDGER_HPP
#define ROWLOCK_EXAMPLE_POSTGRES_LEDGER_HPP

#include <memory>
#include <string>

#include "ledger.hpp"

namespace settlement {

/// The lock table is `shared_lock` in the same schema. `schema` needs no quotes.
std::unique_ptr<ledger> open_postgres_ledger(const std::string& connection_string,
                                             const std::string& schema);

void create_postgres_schema(const std::string& connection_string, const std::string& schema);
/// With all that is in it.
void drop_postgres_schema(const std::string& connection_string, const std::string& schema);

}  // namespace settlement

#endif
