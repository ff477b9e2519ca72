// The limit on MariaDB: the library's own statements through its C library.
#include "race/bare_mariadb.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "mysql/sql/statements.hpp"
#include "race/mariadb_connection.hpp"
#include "race/placeholders.hpp"
#include "race/rowlock_on_mariadb.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

std::string quoted(const std::string& text) { return '\'' + text + '\''; }

class mariadb_contender final : public polling_contender {
 public:
  mariadb_contender(const place& where, const sql::mysql_statements& statements)
      : polling_contender{{}}, connection_{where.server}, statements_{statements} {
    connection_.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  }

  bool take(const lock_key& key) override {
    key_ = &key;
    owner_ = make_owner_id().text;
    const auto ttl_us = std::to_string(std::chrono::microseconds{ttl}.count());
    const auto answered = connection_.execute(
        with(statements_.acquire, {quoted(key.type), quoted(key.source_id), quoted(owner_),
                                   "'bench'", ttl_us, "NULL", "0", "0"}));
    version_ = std::to_string(answered.insert_id);
    return answered.affected == 1;
  }
  void give_back() override {
    const auto answered =
        connection_.execute(with(statements_.release, {quoted(key_->type), quoted(key_->source_id),
                                                       quoted(owner_), version_, "0", "0", "0"}));
    if (answered.affected != 1) throw std::runtime_error{"not released"};
  }

 private:
  mariadb_connection connection_;
  const sql::mysql_statements& statements_;
  const lock_key* key_ = nullptr;
  std::string owner_;
  std::string version_;
};

class mariadb_entrance final : public entrance {
 public:
  explicit mariadb_entrance(const place& where)
      : where_{where}, statements_{mariadb_table_in(where), sql::mysql_flavour::mariadb} {}
  std::unique_ptr<contender> enter() override {
    return std::make_unique<mariadb_contender>(where_, statements_);
  }

 private:
  place where_;
  sql::mysql_statements statements_;
};

}  // namespace

protocol bare_mariadb(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::mariadb,
          .build = build_on_mariadb,
          .open = [](const place& where) { return std::make_unique<mariadb_entrance>(where); }};
}

}  // namespace rowlock::race
