// pglock, userver and River: Go and C++.
#include <chrono>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

/// pglock for Go (cirello-io). A number of a sequence, then an upsert that returns whose number the
/// row has; delete to unlock, each in autocommit. A refused client sleeps for a whole lease, 20 s
/// by default.
class pglock {
 public:
  static std::string tables() {
    return "CREATE TABLE locks (name character varying(255) PRIMARY KEY, "
           "record_version_number bigint, data bytea, owner character varying(255)); "
           "CREATE SEQUENCE locks_rvn OWNED BY locks.record_version_number";
  }
  static std::vector<prepared_statement> statements() {
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
  static constexpr std::chrono::milliseconds pause{20'000};

  bool take(pqxx::connection& on, const lock_key& key) {
    name_ = name_of(key);
    pqxx::nontransaction autocommit{on};
    number_ = autocommit.exec_prepared("number")[0][0].c_str();
    const auto result = autocommit.exec_prepared("upsert", name_, number_, "", "0", owner_);
    return number_ == result[0][0].c_str();
  }
  void give_back(pqxx::connection& on) {
    pqxx::nontransaction autocommit{on};
    expect_one_row(autocommit.exec_prepared("delete", name_, number_), "not deleted");
  }

 private:
  std::string owner_ = make_owner_id().text;
  std::string name_;
  std::string number_;
};

/// userver's distributed lock on PostgreSQL. An upsert that only writes over a row that is ours or
/// has run out; delete to unlock, each in autocommit. Tries again after a tenth of the lease: 100
/// ms for the one second that it suggests.
class userver {
 public:
  static std::string tables() {
    return "CREATE TABLE distlocks (key text PRIMARY KEY, owner text, "
           "expiration_time timestamptz)";
  }
  static std::vector<prepared_statement> statements() {
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
  static constexpr std::chrono::milliseconds pause{100};

  bool take(pqxx::connection& on, const lock_key& key) {
    name_ = name_of(key);
    pqxx::nontransaction autocommit{on};
    return !autocommit.exec_prepared("upsert", name_, owner_, ttl.count()).empty();
  }
  void give_back(pqxx::connection& on) {
    pqxx::nontransaction autocommit{on};
    expect_one_row(autocommit.exec_prepared("delete", name_, owner_), "not deleted");
  }

 private:
  std::string owner_ = make_owner_id().text;
  std::string name_;
};

/// The leader row of River's job queue, one row for each key. Deletes what has run out, inserts
/// unless it is there, in one transaction; to resign, deletes and notifies. The table is UNLOGGED,
/// as River makes it: a crash of the server empties it, and its commits need not wait for the disk.
/// There is no listener here; it tries again every five seconds.
class river {
 public:
  static std::string tables() {
    return "CREATE UNLOGGED TABLE river_leader (elected_at timestamptz NOT NULL, "
           "expires_at timestamptz NOT NULL, leader_id text NOT NULL, name text PRIMARY KEY, "
           "CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND "
           "char_length(leader_id) < 128))";
  }
  static std::vector<prepared_statement> statements() {
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
  static constexpr std::chrono::milliseconds pause{5000};

  bool take(pqxx::connection& on, const lock_key& key) {
    name_ = name_of(key);
    pqxx::work work{on};
    work.exec_prepared("expire", name_);
    const auto elected = work.exec_prepared("elect", leader_, ttl.count(), name_);
    work.commit();
    return elected.affected_rows() == 1;
  }
  void give_back(pqxx::connection& on) {
    pqxx::nontransaction autocommit{on};
    expect_one_row(autocommit.exec_prepared("resign", leader_, name_), "not resigned");
  }

 private:
  std::string leader_ = make_owner_id().text;
  std::string name_;
};

}  // namespace

std::vector<protocol> other_peers() {
  return {
      sql_protocol<pglock>("pglock"),
      sql_protocol<userver>("userver"),
      sql_protocol<river>("river"),
  };
}

}  // namespace rowlock::race
