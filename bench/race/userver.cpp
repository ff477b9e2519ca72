#include "race/userver.hpp"

#include <stdexcept>

namespace rowlock::race {

std::string userver::tables() {
  return "CREATE TABLE distlocks (key text PRIMARY KEY, owner text, "
         "expiration_time timestamptz)";
}

std::vector<prepared_statement> userver::statements() {
  return {
      {"upsert",
       R"sql(INSERT INTO distlocks AS t (key, owner, expiration_time)
             VALUES ($1, $2, current_timestamp + make_interval(secs => $3))
             ON CONFLICT (key) DO UPDATE
                SET owner = $2, expiration_time = current_timestamp + make_interval(secs => $3)
              WHERE t.owner = $2 OR t.expiration_time <= current_timestamp
             RETURNING 1)sql"},
      {"delete", "DELETE FROM distlocks WHERE key = $1 AND owner = $2 RETURNING 1"},
  };
}

bool userver::take(pqxx::connection& on, const lock_key& key) {
  name_ = key.type + ':' + key.source_id;
  pqxx::nontransaction autocommit{on};
  return !say(autocommit, "upsert", name_, owner_, ttl.count()).empty();
}

void userver::give_back(pqxx::connection& on) {
  pqxx::nontransaction autocommit{on};
  if (say(autocommit, "delete", name_, owner_).empty()) throw std::runtime_error{"not deleted"};
}

}  // namespace rowlock::race
