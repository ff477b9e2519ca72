// The limit: the library's own statements in a bare loop over the same driver.
#include "race/bare_postgres.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "postgres/sql/lease_statements.hpp"
#include "race/rowlock_on_postgres.hpp"
#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

namespace {

class bare_contender final : public polling_contender {
 public:
  explicit bare_contender(connections& pool) : polling_contender{{}}, pool_{pool} {}

  bool take(const lock_key& key) override {
    key_ = &key;
    owner_ = make_owner_id().text;
    const auto connection = pool_.borrow();
    pqxx::nontransaction autocommit{*connection};
    const auto granted = say(autocommit, "acquire", key.type, key.source_id, owner_, "bench",
                             std::chrono::microseconds{ttl}.count(), none_, false);
    if (granted.empty() || !granted[0][0].as<bool>()) return false;
    version_ = granted[0][1].as<std::int64_t>();
    return true;
  }
  void give_back() override {
    const auto connection = pool_.borrow();
    pqxx::nontransaction autocommit{*connection};
    const auto released =
        say(autocommit, "release", key_->type, key_->source_id, owner_, version_, false, 0, none_);
    if (released.empty()) throw std::runtime_error{"not released"};
  }

 private:
  connections& pool_;
  const lock_key* key_ = nullptr;
  std::string owner_;
  std::int64_t version_ = 0;
  std::optional<std::int64_t> none_;
};

class bare_entrance final : public entrance {
 public:
  explicit bare_entrance(const place& where)
      : pool_{where, statements(sql::postgres_lease_statements{lock_table_in(where)})} {}
  std::unique_ptr<contender> enter() override { return std::make_unique<bare_contender>(pool_); }

 private:
  static std::vector<prepared_statement> statements(const sql::postgres_lease_statements& sql) {
    return {{"acquire", sql.acquire}, {"release", sql.release}};
  }

  connections pool_;
};

}  // namespace

protocol bare_postgres(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = build_in,
          .open = [](const place& where) { return std::make_unique<bare_entrance>(where); }};
}

}  // namespace rowlock::race
