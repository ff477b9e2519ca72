#include "race/shedlock.hpp"

#include <stdexcept>

namespace rowlock::race {

namespace {
const std::string me = "bench-host";
const std::string interval = std::to_string(ttl.count()) + " seconds";
}  // namespace

std::string shedlock_statements::tables() {
  return "CREATE TABLE shedlock (name varchar(64) NOT NULL PRIMARY KEY, "
         "lock_until timestamp NOT NULL, locked_at timestamp NOT NULL, "
         "locked_by varchar(255) NOT NULL)";
}

std::vector<prepared_statement> shedlock_statements::statements() {
  return {
      {"insert",
       R"sql(INSERT INTO shedlock (name, lock_until, locked_at, locked_by)
             VALUES ($1, timezone('utc', CURRENT_TIMESTAMP) + $2::interval,
                     timezone('utc', CURRENT_TIMESTAMP), $3)
             ON CONFLICT (name) DO UPDATE
                SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + $2::interval,
                    locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = $3
              WHERE shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP))sql"},
      {"update",
       R"sql(UPDATE shedlock
                SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + $2::interval,
                    locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = $3
              WHERE name = $1 AND lock_until <= timezone('utc', CURRENT_TIMESTAMP))sql"},
      {"unlock",
       R"sql(UPDATE shedlock
                SET lock_until = CASE WHEN locked_at + $3::interval
                                           > timezone('utc', CURRENT_TIMESTAMP)
                                      THEN locked_at + $3::interval
                                      ELSE timezone('utc', CURRENT_TIMESTAMP) END
              WHERE name = $1 AND locked_by = $2)sql"},
  };
}

bool shedlock_statements::take(pqxx::transaction_base& in, const lock_key& key) {
  name_ = key.type + ':' + key.source_id;
  if (known_.insert(name_).second && say(in, "insert", name_, interval, me).affected_rows() == 1) {
    return true;
  }
  return say(in, "update", name_, interval, me).affected_rows() == 1;
}

void shedlock_statements::give_back(pqxx::transaction_base& in) {
  if (say(in, "unlock", name_, me, "0 seconds").affected_rows() != 1) {
    throw std::runtime_error{"not unlocked"};
  }
}

bool shedlock::take(pqxx::connection& on, const lock_key& key) {
  pqxx::work work{on};
  const bool taken = shedlock_statements::take(work, key);
  work.commit();
  return taken;
}

void shedlock::give_back(pqxx::connection& on) {
  pqxx::work work{on};
  shedlock_statements::give_back(work);
  work.commit();
}

bool shedlock_in_autocommit::take(pqxx::connection& on, const lock_key& key) {
  pqxx::nontransaction autocommit{on};
  return shedlock_statements::take(autocommit, key);
}

void shedlock_in_autocommit::give_back(pqxx::connection& on) {
  pqxx::nontransaction autocommit{on};
  shedlock_statements::give_back(autocommit);
}

}  // namespace rowlock::race
