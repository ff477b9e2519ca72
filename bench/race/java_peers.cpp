// ShedLock, Spring Integration, and a table behind JPA.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

/// ShedLock on PostgreSQL, with the database's time. The first attempt at a name in a process
/// inserts, all later ones update; the row stays. A refused one does not wait.
///
/// With pqxx::work, JdbcTemplateLockProvider: each statement in a transaction of its own, BEGIN and
/// COMMIT are round trips. With pqxx::nontransaction, JdbcLockProvider: in autocommit.
template <class Transaction>
class shedlock {
 public:
  static std::string tables() {
    return "CREATE TABLE shedlock (name varchar(64) NOT NULL PRIMARY KEY, "
           "lock_until timestamp NOT NULL, locked_at timestamp NOT NULL, "
           "locked_by varchar(255) NOT NULL)";
  }
  static std::vector<prepared_statement> statements() {
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
  static constexpr std::chrono::milliseconds pause{0};

  bool take(pqxx::connection& on, const lock_key& key) {
    name_ = name_of(key);
    Transaction work{on};
    const auto changes_with = [&](const char* statement) {
      return work.exec_prepared(statement, name_, interval_, holder).affected_rows() == 1;
    };
    const bool taken =
        (known_.insert(name_).second && changes_with("insert")) || changes_with("update");
    work.commit();
    return taken;
  }
  void give_back(pqxx::connection& on) {
    Transaction work{on};
    expect_one_row(work.exec_prepared("unlock", name_, holder, "0 seconds"), "not unlocked");
    work.commit();
  }

 private:
  static constexpr auto holder = "bench-host";

  std::string interval_ = std::to_string(ttl.count()) + " seconds";
  std::set<std::string> known_;
  std::string name_;
};

/// The client's clock as both others write it: 2026-11-22 01:02:03.000456, in UTC.
std::string utc_text(std::chrono::system_clock::time_point when) {
  using namespace std::chrono;
  const auto seconds = floor<std::chrono::seconds>(when);
  const std::time_t whole = system_clock::to_time_t(seconds);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  const auto rest = duration_cast<microseconds>(when - seconds).count();
  std::snprintf(text.data() + length, text.size() - length, ".%06d", static_cast<int>(rest));
  return text.data();
}

/// The statements of Spring Integration's DefaultLockRepository: an update, then the insert that
/// its documentation gives for PostgreSQL, in one transaction at READ COMMITTED; a delete to
/// unlock. Expiry is compared with the client's clock.
class spring_connections : public connections {
 public:
  explicit spring_connections(const place& where) : connections{where, statements()} {}

  /// The lock of the process that a thread has before it asks the database.
  std::mutex& local_lock_of(const std::string& key) {
    const std::lock_guard lock{mutex_};
    return local_locks_[key];
  }

 private:
  static std::vector<prepared_statement> statements() {
    return {
        {"update",
         R"sql(UPDATE int_lock SET client_id = $1, created_date = $2, expired_after = $3
                WHERE region = $4 AND lock_key = $5
                  AND (client_id = $1 OR expired_after < $2))sql"},
        {"insert",
         R"sql(INSERT INTO int_lock (region, lock_key, client_id, created_date, expired_after)
               VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING)sql"},
        {"delete",
         R"sql(DELETE FROM int_lock
                WHERE region = $1 AND lock_key = $2 AND client_id = $3
                  AND expired_after >= $4)sql"},
    };
  }

  std::mutex mutex_;
  std::map<std::string, std::mutex> local_locks_;  // guarded by mutex_
};

/// JdbcLockRegistry: of the threads of a process that want a key, one asks the database, every 100
/// ms.
class spring final : public contender {
 public:
  static std::string tables() {
    return "CREATE TABLE int_lock (lock_key char(36) NOT NULL, region varchar(100) NOT NULL, "
           "client_id char(36), created_date timestamp NOT NULL, expired_after timestamp NOT NULL, "
           "PRIMARY KEY (lock_key, region))";
  }

  explicit spring(spring_connections& pool) : pool_{pool} {}

  bool take(const lock_key& key) override {
    local_ = std::unique_lock{local_lock_of(key), std::try_to_lock};
    if (!local_.owns_lock()) return false;
    if (ask()) return true;
    local_.unlock();
    return false;
  }
  bool take_waiting(const lock_key& key, const std::stop_token& stop) override {
    local_ = std::unique_lock{local_lock_of(key)};
    while (!stop.stop_requested()) {
      if (ask()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
    local_.unlock();
    return false;
  }
  void give_back() override {
    {
      const auto connection = pool_.borrow();
      pqxx::work work{*connection};
      expect_one_row(work.exec_prepared("delete", region, key_, client_, now()), "not deleted");
      work.commit();
    }
    local_.unlock();
  }

 private:
  static constexpr auto region = "DEFAULT";

  static std::string now() { return now_and({}); }
  static std::string now_and(std::chrono::seconds later) {
    return utc_text(std::chrono::system_clock::now() + later);
  }

  std::mutex& local_lock_of(const lock_key& key) {
    key_ = key.type + key.source_id;
    return pool_.local_lock_of(key_);
  }
  bool ask() {
    const auto connection = pool_.borrow();
    pqxx::work work{*connection};
    const auto updated = work.exec_prepared("update", client_, now(), now_and(ttl), region, key_);
    const bool is_taken =
        updated.affected_rows() == 1 ||
        work.exec_prepared("insert", region, key_, client_, now(), now_and(ttl)).affected_rows() ==
            1;
    work.commit();
    return is_taken;
  }

  spring_connections& pool_;
  std::string client_ = make_owner_id().text;
  std::string key_;
  std::unique_lock<std::mutex> local_;
};

/// A shared lock table behind JPA entities with @Version, as many teams build it. Select, insert if
/// absent, versioned update; versioned update to unset. Each side is a transaction whose statements
/// are round trips; the clock is the client's.
class jpa_table {
 public:
  static std::string tables() {
    return "CREATE TABLE shared_lock_entity (id bigserial PRIMARY KEY, "
           "lock_type varchar(64) NOT NULL, source_id varchar(255) NOT NULL, "
           "owner varchar(64), locked_at timestamp, expires_at timestamp, "
           "version bigint NOT NULL, UNIQUE (lock_type, source_id))";
  }
  static std::vector<prepared_statement> statements() {
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
  static constexpr std::chrono::milliseconds pause{300};

  bool take(pqxx::connection& on, const lock_key& key) {
    try {
      pqxx::work work{on};
      const bool taken = take(work, key);
      work.commit();
      return taken;
    } catch (const pqxx::unique_violation&) {
      return false;
    }
  }
  void give_back(pqxx::connection& on) {
    pqxx::work work{on};
    expect_one_row(work.exec_prepared("unset", id_, version_), "not unset");
    work.commit();
  }

 private:
  bool take(pqxx::work& work, const lock_key& key) {
    const auto now = std::chrono::system_clock::now();
    const auto found = work.exec_prepared("select", key.type, key.source_id, utc_text(now));
    if (found.empty()) {
      id_ = work.exec_prepared("insert", key.type, key.source_id)[0][0].as<std::int64_t>();
      version_ = 0;
    } else {
      if (!found[0][2].as<bool>()) return false;
      id_ = found[0][0].as<std::int64_t>();
      version_ = found[0][1].as<std::int64_t>();
    }
    const auto updated =
        work.exec_prepared("update", id_, version_, owner_, utc_text(now), utc_text(now + ttl));
    if (updated.affected_rows() != 1) return false;  // OptimisticLockException
    ++version_;
    return true;
  }

  std::string owner_ = make_owner_id().text;
  std::int64_t id_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace

std::vector<protocol> java_peers() {
  return {
      sql_protocol<shedlock<pqxx::work>>("shedlock_template"),
      sql_protocol<shedlock<pqxx::nontransaction>>("shedlock_jdbc"),
      {.name = "spring",
       .runs_on = engine::postgres,
       .build = [](const place& where) { execute(where, spring::tables()); },
       .open = contenders_sharing<spring, spring_connections>},
      sql_protocol<jpa_table>("jpa_table"),
  };
}

}  // namespace rowlock::race
