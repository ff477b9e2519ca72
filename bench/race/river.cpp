#include "race/river.hpp"

#include <stdexcept>

namespace rowlock::race {

std::string river::tables() {
  return "CREATE UNLOGGED TABLE river_leader (elected_at timestamptz NOT NULL, "
         "expires_at timestamptz NOT NULL, leader_id text NOT NULL, name text PRIMARY KEY, "
         "CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND "
         "char_length(leader_id) < 128))";
}

std::vector<prepared_statement> river::statements() {
  return {
      {"expire", "DELETE FROM river_leader WHERE name = $1 AND expires_at < now()"},
      {"elect",
       R"sql(INSERT INTO river_leader (leader_id, elected_at, expires_at, name)
             VALUES ($1, now(), now() + make_interval(secs => $2), $3)
             ON CONFLICT (name) DO NOTHING)sql"},
      {"resign",
       R"sql(WITH currently_held_leaders AS (
               SELECT * FROM river_leader WHERE leader_id = $1 AND name = $2 FOR UPDATE),
             notified_resignations AS (
               SELECT pg_notify('river_leadership', json_build_object('name', name, 'leader_id',
                                leader_id, 'action', 'resigned')::text)
                 FROM currently_held_leaders)
             DELETE FROM river_leader USING notified_resignations
              WHERE leader_id = $1 AND name = $2)sql"},
  };
}

bool river::take(pqxx::connection& on, const lock_key& key) {
  name_ = key.type + ':' + key.source_id;
  pqxx::work work{on};
  say(work, "expire", name_);
  const bool taken = say(work, "elect", leader_, ttl.count(), name_).affected_rows() == 1;
  work.commit();
  return taken;
}

void river::give_back(pqxx::connection& on) {
  pqxx::nontransaction autocommit{on};
  if (say(autocommit, "resign", leader_, name_).affected_rows() != 1) {
    throw std::runtime_error{"not resigned"};
  }
}

}  // namespace rowlock::race
