// ShedLock and Spring Integration on MariaDB. Statements are text, as MariaDB's driver for Java
// sends them, on a connection for each thread.
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>

#include "race/mariadb_connection.hpp"
#include "race/placeholders.hpp"
#include "race/protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

std::string quoted(const std::string& text) { return '\'' + text + '\''; }

class mariadb_contender : public polling_contender {
 public:
  explicit mariadb_contender(const place& where) : connection_{where.server} {
    connection_.execute("USE " + where.schema);
  }

 protected:
  bool changes(const std::string& sql, const std::vector<std::string>& values) {
    return connection_.execute(with(sql, values)).affected == 1;
  }
  void run(const char* sql) { connection_.execute(sql); }

 private:
  mariadb_connection connection_;
};

/// JdbcLockProvider, with the database's time: in autocommit.
class shedlock final : public mariadb_contender {
 public:
  static std::string table() {
    return "CREATE TABLE shedlock (name varchar(64) NOT NULL PRIMARY KEY, "
           "lock_until timestamp(3) NOT NULL, locked_at timestamp(3) NOT NULL, "
           "locked_by varchar(255) NOT NULL)";
  }
  using mariadb_contender::mariadb_contender;

  bool take(const lock_key& key) override {
    name_ = quoted(name_of(key));
    const auto changes_with = [&](const char* sql) {
      return changes(sql, {name_, ttl_us_, "'bench-host'"});
    };
    if (known_.insert(name_).second &&
        changes_with(
            "INSERT IGNORE INTO shedlock (name, lock_until, locked_at, locked_by) VALUES "
            "($1, TIMESTAMPADD(MICROSECOND, $2, UTC_TIMESTAMP(3)), UTC_TIMESTAMP(3), $3)")) {
      return true;
    }
    return changes_with(
        "UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, $2, UTC_TIMESTAMP(3)), "
        "locked_at = UTC_TIMESTAMP(3), locked_by = $3 "
        "WHERE name = $1 AND lock_until <= UTC_TIMESTAMP(3)");
  }
  void give_back() override {
    if (!changes("UPDATE shedlock SET lock_until = "
                 "IF (TIMESTAMPADD(MICROSECOND, 0, locked_at) > UTC_TIMESTAMP(3), "
                 "TIMESTAMPADD(MICROSECOND, 0, locked_at), UTC_TIMESTAMP(3)) "
                 "WHERE name = $1 AND locked_by = 'bench-host'",
                 {name_})) {
      throw std::runtime_error{"not unlocked"};
    }
  }

 private:
  const std::string ttl_us_ = std::to_string(std::chrono::microseconds{ttl}.count());
  std::set<std::string> known_;
  std::string name_;
};

/// JdbcLockRegistry: an update, then an insert, in one transaction at READ COMMITTED; a delete to
/// unlock.
class spring final : public mariadb_contender {
 public:
  static std::string table() {
    return "CREATE TABLE INT_LOCK (LOCK_KEY char(36) NOT NULL, REGION varchar(100) NOT NULL, "
           "CLIENT_ID char(36), CREATED_DATE datetime(6) NOT NULL, "
           "EXPIRED_AFTER datetime(6) NOT NULL, PRIMARY KEY (LOCK_KEY, REGION))";
  }
  explicit spring(const place& where) : mariadb_contender{where} {
    run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  }

  bool take(const lock_key& key) override {
    key_ = quoted(key.type + key.source_id);
    run("START TRANSACTION");
    const auto changes_with = [&](const char* sql) { return changes(sql, {client_, key_, "60"}); };
    const bool is_taken =
        changes_with(
            "UPDATE INT_LOCK SET CLIENT_ID = $1, CREATED_DATE = UTC_TIMESTAMP(6), "
            "EXPIRED_AFTER = UTC_TIMESTAMP(6) + INTERVAL $3 SECOND "
            "WHERE REGION = 'DEFAULT' AND LOCK_KEY = $2 "
            "AND (CLIENT_ID = $1 OR EXPIRED_AFTER < UTC_TIMESTAMP(6))") ||
        changes_with(
            "INSERT IGNORE INTO INT_LOCK "
            "(REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER) VALUES "
            "('DEFAULT', $2, $1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL $3 SECOND)");
    run("COMMIT");
    return is_taken;
  }
  void give_back() override {
    run("START TRANSACTION");
    if (!changes("DELETE FROM INT_LOCK WHERE REGION = 'DEFAULT' AND LOCK_KEY = $2 "
                 "AND CLIENT_ID = $1 AND EXPIRED_AFTER >= UTC_TIMESTAMP(6)",
                 {client_, key_})) {
      throw std::runtime_error{"not deleted"};
    }
    run("COMMIT");
  }

 private:
  const std::string client_ = quoted(make_owner_id().text);
  std::string key_;
};

template <class Contender>
protocol peer(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::mariadb,
          .build =
              [](const place& where) {
                mariadb_connection connection{where.server};
                connection.execute("USE " + where.schema);
                connection.execute(Contender::table());
              },
          .open = contenders_sharing<Contender, const place>};
}

}  // namespace

std::vector<protocol> mariadb_peers() {
  return {peer<shedlock>("shedlock_jdbc_mariadb"), peer<spring>("spring_mariadb")};
}

}  // namespace rowlock::race
