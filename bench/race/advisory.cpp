// PostgreSQL's advisory locks: in the server's memory, tied to a connection.
#include "race/advisory.hpp"

#include <stdexcept>

namespace rowlock::race {

namespace {
std::string name_of(const lock_key& key) { return key.type + ':' + key.source_id; }
}  // namespace

std::vector<prepared_statement> session_advisory::statements() {
  return {
      {"try", "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"},
      {"wait", "SELECT pg_advisory_lock(hashtextextended($1, 0))"},
      {"unlock", "SELECT pg_advisory_unlock(hashtextextended($1, 0))"},
  };
}

bool session_advisory::take(pqxx::connection& on, const lock_key& key) {
  name_ = name_of(key);
  pqxx::nontransaction autocommit{on};
  return say(autocommit, "try", name_)[0][0].as<bool>();
}

void session_advisory::take_waiting(pqxx::connection& on, const lock_key& key) {
  name_ = name_of(key);
  pqxx::nontransaction autocommit{on};
  say(autocommit, "wait", name_);
}

void session_advisory::give_back(pqxx::connection& on) {
  pqxx::nontransaction autocommit{on};
  if (!say(autocommit, "unlock", name_)[0][0].as<bool>()) throw std::runtime_error{"not unlocked"};
}

std::vector<prepared_statement> transaction_advisory::statements() {
  return {
      {"try", "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"},
      {"wait", "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"},
  };
}

bool transaction_advisory::take(pqxx::connection& on, const lock_key& key) {
  open_ = std::make_unique<pqxx::work>(on);
  if (say(*open_, "try", name_of(key))[0][0].as<bool>()) return true;
  open_.reset();
  return false;
}

void transaction_advisory::take_waiting(pqxx::connection& on, const lock_key& key) {
  open_ = std::make_unique<pqxx::work>(on);
  say(*open_, "wait", name_of(key));
}

void transaction_advisory::give_back(pqxx::connection& /*on*/) {
  open_->commit();
  open_.reset();
}

}  // namespace rowlock::race
