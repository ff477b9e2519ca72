#include "race/spring.hpp"

#include <stdexcept>

#include "race/client_clock.hpp"

namespace rowlock::race {

namespace {

const std::string region = "DEFAULT";

std::string now() { return utc_text(std::chrono::system_clock::now()); }
std::string later() { return utc_text(std::chrono::system_clock::now() + ttl); }

}  // namespace

std::string spring::tables() {
  return "CREATE TABLE int_lock (lock_key char(36) NOT NULL, region varchar(100) NOT NULL, "
         "client_id char(36), created_date timestamp NOT NULL, expired_after timestamp NOT NULL, "
         "PRIMARY KEY (lock_key, region))";
}

std::vector<prepared_statement> spring::statements() {
  return {
      {"update",
       R"sql(UPDATE int_lock SET client_id = $1, created_date = $2, expired_after = $3
              WHERE region = $4 AND lock_key = $5 AND (client_id = $1 OR expired_after < $2))sql"},
      {"insert",
       R"sql(INSERT INTO int_lock (region, lock_key, client_id, created_date, expired_after)
             VALUES ($1, $2, $3, $4, $5))sql"},
      {"delete",
       R"sql(DELETE FROM int_lock
              WHERE region = $1 AND lock_key = $2 AND client_id = $3 AND expired_after >= $4)sql"},
  };
}

bool spring::take(pqxx::connection& on, const lock_key& key) {
  key_ = key.type + key.source_id;
  try {
    pqxx::work work{on};
    if (say(work, "update", client_, now(), later(), region, key_).affected_rows() == 0) {
      say(work, "insert", region, key_, client_, now(), later());
    }
    work.commit();
    return true;
  } catch (const pqxx::unique_violation&) {
    return false;
  }
}

void spring::give_back(pqxx::connection& on) {
  pqxx::work work{on};
  if (say(work, "delete", region, key_, client_, now()).affected_rows() != 1) {
    throw std::runtime_error{"not deleted"};
  }
  work.commit();
}

}  // namespace rowlock::race
