#include "race/pglock.hpp"

#include <stdexcept>

namespace rowlock::race {

std::string pglock::tables() {
  return "CREATE TABLE locks (name character varying(255) PRIMARY KEY, "
         "record_version_number bigint, data bytea, owner character varying(255)); "
         "CREATE SEQUENCE locks_rvn OWNED BY locks.record_version_number";
}

std::vector<prepared_statement> pglock::statements() {
  return {
      {"number", "SELECT nextval('locks_rvn')"},
      {"upsert",
       R"sql(INSERT INTO locks (name, record_version_number, data, owner)
             VALUES ($1, $2, $3, $5)
             ON CONFLICT (name) DO UPDATE
                SET record_version_number = CASE
                      WHEN COALESCE(locks.record_version_number = $4, TRUE) THEN $2
                      ELSE locks.record_version_number END,
                    data = CASE WHEN COALESCE(locks.record_version_number = $4, TRUE)
                                THEN locks.data ELSE $3 END,
                    owner = CASE WHEN COALESCE(locks.record_version_number = $4, TRUE)
                                 THEN $5 ELSE locks.owner END
             RETURNING record_version_number, data, owner)sql"},
      {"delete", "DELETE FROM locks WHERE name = $1 AND record_version_number = $2"},
  };
}

bool pglock::take(pqxx::connection& on, const lock_key& key) {
  name_ = key.type + ':' + key.source_id;
  pqxx::nontransaction autocommit{on};
  number_ = say(autocommit, "number")[0][0].c_str();
  const auto row = say(autocommit, "upsert", name_, number_, "", "0", owner_)[0];
  return number_ == row[0].c_str();
}

void pglock::give_back(pqxx::connection& on) {
  pqxx::nontransaction autocommit{on};
  if (say(autocommit, "delete", name_, number_).affected_rows() != 1) {
    throw std::runtime_error{"not deleted"};
  }
}

}  // namespace rowlock::race
