#include "race/jpa_table.hpp"

#include <stdexcept>

#include "race/client_clock.hpp"

namespace rowlock::race {

std::string jpa_table::tables() {
  return "CREATE TABLE shared_lock_entity (id bigserial PRIMARY KEY, "
         "lock_type varchar(64) NOT NULL, source_id varchar(255) NOT NULL, "
         "owner varchar(64), locked_at timestamp, expires_at timestamp, "
         "version bigint NOT NULL, UNIQUE (lock_type, source_id))";
}

std::vector<prepared_statement> jpa_table::statements() {
  return {
      {"select",
       R"sql(SELECT id, version, owner IS NULL OR expires_at < $3
               FROM shared_lock_entity
              WHERE lock_type = $1 AND source_id = $2)sql"},
      {"insert",
       R"sql(INSERT INTO shared_lock_entity (lock_type, source_id, version) VALUES ($1, $2, 0)
             RETURNING id)sql"},
      {"update",
       R"sql(UPDATE shared_lock_entity
                SET owner = $3, locked_at = $4, expires_at = $5, version = version + 1
              WHERE id = $1 AND version = $2)sql"},
      {"unset",
       R"sql(UPDATE shared_lock_entity
                SET owner = NULL, locked_at = NULL, expires_at = NULL, version = version + 1
              WHERE id = $1 AND version = $2)sql"},
  };
}

bool jpa_table::take(pqxx::work& in, const lock_key& key) {
  const auto now = std::chrono::system_clock::now();
  const auto found = say(in, "select", key.type, key.source_id, utc_text(now));
  if (found.empty()) {
    id_ = say(in, "insert", key.type, key.source_id)[0][0].as<std::int64_t>();
    version_ = 0;
  } else {
    if (!found[0][2].as<bool>()) return false;
    id_ = found[0][0].as<std::int64_t>();
    version_ = found[0][1].as<std::int64_t>();
  }
  const auto updated = say(in, "update", id_, version_, owner_, utc_text(now), utc_text(now + ttl));
  if (updated.affected_rows() != 1) return false;  // OptimisticLockException
  ++version_;
  return true;
}

bool jpa_table::take(pqxx::connection& on, const lock_key& key) {
  try {
    pqxx::work work{on};
    const bool taken = take(work, key);
    work.commit();
    return taken;
  } catch (const pqxx::unique_violation&) {
    return false;
  }
}

void jpa_table::give_back(pqxx::connection& on) {
  pqxx::work work{on};
  if (say(work, "unset", id_, version_).affected_rows() != 1) {
    throw std::runtime_error{"not unset"};
  }
  work.commit();
}

}  // namespace rowlock::race
