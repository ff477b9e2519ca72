// PostgreSQL's advisory locks: in the server's memory, tied to a connection.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"

namespace rowlock::race {

namespace {

/// Keeps its connection for as long as it has the key. No lease, no version, nothing on the disk.
class session_advisory {
 public:
  static std::string tables() { return {}; }
  static std::vector<prepared_statement> statements() {
    return {
        {"try", "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"},
        {"wait", "SELECT pg_advisory_lock(hashtextextended($1, 0))"},
        {"unlock", "SELECT pg_advisory_unlock(hashtextextended($1, 0))"},
    };
  }
  static constexpr bool keeps_connection = true;

  bool take(pqxx::connection& on, const lock_key& key) {
    name_ = name_of(key);
    pqxx::nontransaction autocommit{on};
    return autocommit.exec_prepared("try", name_)[0][0].as<bool>();
  }
  void take_waiting(pqxx::connection& on, const lock_key& key) {
    name_ = name_of(key);
    pqxx::nontransaction autocommit{on};
    autocommit.exec_prepared("wait", name_);
  }
  void give_back(pqxx::connection& on) {
    pqxx::nontransaction autocommit{on};
    if (!autocommit.exec_prepared("unlock", name_)[0][0].as<bool>()) {
      throw std::runtime_error{"not unlocked"};
    }
  }

 private:
  std::string name_;
};

/// The same, until the end of a transaction.
class transaction_advisory {
 public:
  static std::string tables() { return {}; }
  static std::vector<prepared_statement> statements() {
    return {
        {"try", "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"},
        {"wait", "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"},
    };
  }
  static constexpr bool keeps_connection = true;

  bool take(pqxx::connection& on, const lock_key& key) {
    open_ = std::make_unique<pqxx::work>(on);
    if (open_->exec_prepared("try", name_of(key))[0][0].as<bool>()) return true;
    open_.reset();
    return false;
  }
  void take_waiting(pqxx::connection& on, const lock_key& key) {
    open_ = std::make_unique<pqxx::work>(on);
    open_->exec_prepared("wait", name_of(key));
  }
  void give_back(pqxx::connection& /*on*/) {
    open_->commit();
    open_.reset();
  }

 private:
  std::unique_ptr<pqxx::work> open_;
};

}  // namespace

std::vector<protocol> advisory_locks() {
  return {
      sql_protocol<session_advisory>("advisory_session"),
      sql_protocol<transaction_advisory>("advisory_transaction"),
  };
}

}  // namespace rowlock::race
